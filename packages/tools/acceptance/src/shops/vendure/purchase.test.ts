import { evmAssetOf, pay } from '@cpg/local-chain';
import { rpcOf, LOCAL_NETWORK } from '../../harness/chains.ts';
import { sharedStack } from '../../harness/stack-files.ts';
import { openGateway, openGatewayAndShop, type ShopGateway } from '../setup/gateway.ts';
import { checkOut, METHOD, openPayment, orderOfPage, soldOnce, startVendureWithPlugin } from './plugin-shop.ts';
import type { VendureShop } from './vendure-shop.ts';

let gateway: ShopGateway;
let shop: VendureShop;
let close: () => Promise<void>;
beforeAll(async () => void ({ gateway, shop, close } = await openGatewayAndShop(openGateway, startVendureWithPlugin)));
afterAll(() => close?.());

test.each(['USDT', 'USDC', 'USDG', 'BTC', 'ETH'])('a cart is paid in %s, and the order is placed', async (coin) => {
  const checkout = await checkOut(shop, gateway, { coin });
  await gateway.pay(checkout.gatewayOrderId);
  expect(await soldOnce(shop, checkout)).toMatchObject({ totalWithTax: 1550, payments: [{ amount: 1550 }] });
});

const call = rpcOf(sharedStack());
(call ? test : test.skip)('a cart is paid on a chain', async () => {
  const checkout = await checkOut(shop, gateway, { coin: 'USDT' });
  const { deposit_instructions } = await gateway.client.getOrder(checkout.gatewayOrderId);
  const deposit = deposit_instructions.find((one) => one.rail === 'crypto_deposit' && one.network === LOCAL_NETWORK);
  if (deposit?.rail !== 'crypto_deposit') throw new Error('the local chain is not offered');
  await pay(call!, evmAssetOf(deposit.asset), deposit.address, BigInt(deposit.amount_units));
  await soldOnce(shop, checkout);
});

test('a shopper who claims a payment early is declined, also with the payment of somebody else', async () => {
  const paid = await checkOut(shop, gateway);
  await gateway.pay(paid.gatewayOrderId);
  await soldOnce(shop, paid);
  const { shopper, cart } = await checkOut(shop, gateway);
  for (const metadata of [{}, { gatewayOrder: paid.gatewayOrderId }]) {
    expect(await shopper.pay(METHOD, metadata)).toMatchObject({ errorCode: 'PAYMENT_DECLINED_ERROR' });
  }
  expect(await shop.staff.order(cart.id)).toMatchObject({ state: 'ArrangingPayment' });
});

test('the page of a cart closes when the shopper goes back to the cart, and the next one has the new total', async () => {
  const { shopper, gatewayOrderId, cart } = await checkOut(shop, gateway);
  expect(await shopper.moveTo('AddingItems')).toMatchObject({ state: 'AddingItems' });
  expect(await gateway.client.getOrder(gatewayOrderId)).toMatchObject({ status: 'canceled' });
  expect(await shopper.addLine()).toMatchObject({ totalWithTax: 2600 });
  await shopper.moveTo('ArrangingPayment');
  const next = await orderOfPage(gateway, await openPayment(shopper));
  expect(await gateway.client.getOrder(next)).toMatchObject({ item_totals: { USD: '26.00' } });
  await gateway.pay(next);
  await soldOnce(shop, { shopper, cart, gatewayOrderId: next });
});

test('a cart whose payment is on its way stays as it is', async () => {
  const { shopper, gatewayOrderId, cart } = await checkOut(shop, gateway, { coin: 'USDC' });
  await gateway.client.registerPayment({
    order_id: gatewayOrderId,
    payment_rail: 'crypto_deposit',
    amount: '1',
    currency: 'USDC',
    outcome: 'pending',
  });
  expect(await shopper.moveTo('AddingItems')).toMatchObject({ errorCode: 'ORDER_STATE_TRANSITION_ERROR' });
  expect(await shop.staff.order(cart.id)).toMatchObject({ state: 'ArrangingPayment' });
});

test('another tab gets the same page, and another coin closes the first one', async () => {
  const { shopper, gatewayOrderId } = await checkOut(shop, gateway, { coin: 'USDC' });
  const [one, two] = await Promise.all([openPayment(shopper, 'USDC'), openPayment(shopper, 'USDC')]);
  expect(one).toEqual(two);
  expect(await orderOfPage(gateway, one)).toBe(gatewayOrderId);
  expect(await openPayment(shopper, 'ETH')).toMatchObject({ coin: 'ETH' });
  expect(await gateway.client.getOrder(gatewayOrderId)).toMatchObject({ status: 'canceled' });
});

test('a refund over two payments is recorded once', async () => {
  const checkout = await checkOut(shop, gateway, { coin: 'USDC' });
  await gateway.pay(checkout.gatewayOrderId, { amount: '10' });
  await gateway.pay(checkout.gatewayOrderId);
  const order = await soldOnce(shop, checkout);
  const [payment] = order.payments!;
  expect(await shop.staff.refund(payment!.id, 700, 'a lid was missing')).toMatchObject({
    state: 'Settled',
    total: 700,
  });
  const { refunds } = await gateway.client.getOrder(checkout.gatewayOrderId);
  expect(refunds).toMatchObject([{ requested_amount: '7.00', requested_currency: 'USD', reason: 'a lid was missing' }]);
  expect(refunds![0]!.parts.length).toBe(2);
});

test.each(['JPY', 'MXN'] as const)('a cart in %s is paid', async (currency) => {
  const checkout = await checkOut(shop, gateway, { currency });
  await gateway.pay(checkout.gatewayOrderId);
  await soldOnce(shop, checkout);
});

test('a cart in a currency that the gateway does not take has no coins', async () => {
  const shopper = shop.shopper('SEK');
  await shopper.createCart();
  expect(await shopper.call('{ cryptoPaymentCoins }')).toEqual({ cryptoPaymentCoins: [] });
  expect(await openPayment(shopper)).toMatchObject({ code: 'not_offered' });
});
