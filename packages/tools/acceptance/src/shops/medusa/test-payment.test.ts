import { type MedusaShop, startMedusa, TEST_PAYMENT } from './medusa-shop.ts';

let shop: MedusaShop;
beforeAll(async () => void (shop = await startMedusa()));
afterAll(() => shop.close());

test("a cart is bought, captured and refunded by Medusa's own test payment", async () => {
  const cart = await shop.shopper.createCart();
  expect(cart).toMatchObject({ total: 15.5, currency_code: 'usd' });
  await shop.shopper.startPayment(cart.id, TEST_PAYMENT);
  const completed = await shop.shopper.complete(cart.id);
  expect(completed).toMatchObject({ type: 'order' });
  const { orderId } = completed as { orderId: string };
  const { payments } = await shop.staff.order(orderId);
  expect(payments).toMatchObject([{ amount: 15.5, provider_id: TEST_PAYMENT, captures: [] }]);
  await shop.staff.capture(payments[0]!.id);
  expect(await shop.staff.refund(payments[0]!.id, 5.5, 'a lid was missing')).toMatchObject({ status: 200 });
  expect(await shop.staff.order(orderId)).toMatchObject({
    payment_status: 'partially_refunded',
    payments: [{ captures: [{ amount: 15.5 }], refunds: [{ amount: 5.5, note: 'a lid was missing' }] }],
  });
});

test('prices in yen have no decimals', async () => {
  expect(await shop.shopper.createCart('jpy')).toMatchObject({ total: 1505, currency_code: 'jpy' });
});

test('orders survive a kill of the shop', async () => {
  const cart = await shop.shopper.createCart();
  await shop.shopper.startPayment(cart.id, TEST_PAYMENT);
  const { orderId } = (await shop.shopper.complete(cart.id)) as { orderId: string };
  await shop.kill();
  await shop.start();
  expect(await shop.staff.order(orderId)).toMatchObject({ total: 15.5 });
});

test('a second process sells from the same data', async () => {
  const other = await shop.startAnother();
  const cart = await shop.shopper.createCart();
  const answer = await shop.shopper.call('GET', `/store/carts/${cart.id}`);
  expect(answer.status).toBe(200);
  expect(other.baseUrl).not.toBe(shop.baseUrl);
});
