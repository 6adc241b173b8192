import { openGateway, openGatewayAndShop, type ShopGateway } from '../setup/gateway.ts';
import { type MedusaShop, TEST_PAYMENT } from './medusa-shop.ts';
import { checkOut, PROVIDER, soldOnce, startMedusaWithPlugin, startPayment } from './plugin-shop.ts';

let gateway: ShopGateway;
let shop: MedusaShop;
let close: () => Promise<void>;
beforeAll(async () => void ({ gateway, shop, close } = await openGatewayAndShop(openGateway, startMedusaWithPlugin)));
afterAll(() => close?.());

test.each(['USDC', 'USDT', 'USDG', 'BTC', 'ETH', 'CAZ'])(
  'a cart that is paid in %s becomes one captured order',
  async (coin) => {
    const { orderId, url } = await checkOut(shop, { coin });
    expect(url).toContain('/pay/');
    expect(await gateway.client.getOrder(orderId)).toMatchObject({ item_totals: { USD: '15.50' }, currency: coin });
    await gateway.pay(orderId);
    expect(await soldOnce(shop, orderId)).toMatchObject({
      total: 15.5,
      payment_status: 'captured',
      payments: [{ amount: 15.5, provider_id: PROVIDER, captures: [{ amount: 15.5 }] }],
    });
  },
);

test('prices in yen and pesos are exact', async () => {
  for (const [currency, total] of [
    ['jpy', { JPY: '1505' }],
    ['mxn', { MXN: '15.50' }],
  ] as const) {
    const { orderId } = await checkOut(shop, { currency });
    expect(await gateway.client.getOrder(orderId)).toMatchObject({ item_totals: total });
    await gateway.pay(orderId);
    await soldOnce(shop, orderId);
  }
});

test('a cart in a currency that is not offered has no coins, and can be paid otherwise', async () => {
  const { call, createCart, startPayment: start, complete } = shop.shopper;
  const dollars = await createCart('usd');
  const coinsOf = async (id: string) => (await call('GET', `/store/crypto-payments/coins?cart_id=${id}`)).body.coins;
  const coins = await coinsOf(dollars.id);
  expect(coins.map(({ currency }: { currency: string }) => currency)).toContain('USDC');
  const crowns = await createCart('sek');
  expect(await coinsOf(crowns.id)).toEqual([]);
  await expect(start(crowns.id, PROVIDER)).rejects.toThrow('Crypto payments take no prices in SEK.');
  await start(crowns.id, TEST_PAYMENT);
  expect(await complete(crowns.id)).toMatchObject({ type: 'order' });
});

test('a shopper who completes the cart before it is paid gets no order', async () => {
  const { cartId, orderId } = await checkOut(shop);
  const before = await shop.staff.orders();
  expect(await shop.shopper.complete(cartId)).toMatchObject({
    type: 'error',
    message: expect.stringContaining('was not authorized'),
  });
  expect(await shop.staff.orders()).toHaveLength(before.length);
  await gateway.pay(orderId);
  await soldOnce(shop, orderId);
});

test('a shopper who starts the payment again has one payable page', async () => {
  const first = await checkOut(shop);
  const second = await startPayment(shop, first.cartId);
  const open = await gateway.client.listOrders({ status: ['awaiting_payment'], limit: 100 });
  const ofCart = open.items.filter(({ id }) => [first.orderId, second.orderId].includes(id));
  expect(ofCart.map(({ id }) => id)).toEqual([second.orderId]);
  await gateway.pay(second.orderId);
  await soldOnce(shop, second.orderId);
});

test('staff refunds a part, and the gateway has it over two payments', async () => {
  const { orderId } = await checkOut(shop);
  await gateway.pay(orderId, { amount: '10' });
  await gateway.pay(orderId);
  const { id, payments } = await soldOnce(shop, orderId);
  const paymentId = payments[0]!.id;
  expect(await shop.staff.refund(paymentId, 12.5, 'broken')).toMatchObject({ status: 200 });
  const order = await gateway.client.getOrder(orderId);
  expect(order).toMatchObject({ status: 'paid', refunds: [{ parts: [{}, {}] }] });
  expect(await shop.staff.order(id)).toMatchObject({
    payment_status: 'partially_refunded',
    payments: [{ refunds: [{ amount: 12.5 }] }],
  });
  expect(await shop.staff.refund(paymentId, 3)).toMatchObject({ status: 200 });
  expect(await gateway.client.getOrder(orderId)).toMatchObject({ status: 'reversed', refunds: [{}, {}] });
  expect(await shop.staff.refund(paymentId, 1)).not.toMatchObject({ status: 200 });
});
