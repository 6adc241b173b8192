import { rpcOf } from '../../harness/chains.ts';
import { payOrder } from '../../pay/pay-order.ts';
import { openGateway, openGatewayAndShop, type ShopGateway } from '../setup/gateway.ts';
import { checkOut, soldOnce, staffReads, startVendureWithPlugin } from './plugin-shop.ts';
import type { VendureShop } from './vendure-shop.ts';

let gateway: ShopGateway;
let shop: VendureShop;
let close: () => Promise<void>;
beforeAll(async () => void ({ gateway, shop, close } = await openGatewayAndShop(openGateway, startVendureWithPlugin)));
afterAll(() => close?.());

test('a reorganization of the local chain after the order is told', async () => {
  const checkout = await checkOut(shop, gateway, { coin: 'USDT' });
  const context = {
    api: gateway.merchant.api,
    call: rpcOf(gateway.stack)!,
    print: () => {},
    beforeReorg: () => soldOnce(shop, checkout),
  };
  const order = checkout.gatewayOrderId;
  await payOrder(context, { order, amount: undefined, token: undefined, times: 1, reorg: 'lost' });
  await staffReads(shop, checkout, /Reversed: the payment of this paid order was taken back. Do not ship/);
});

test('a payment in two parts settles one order', async () => {
  const checkout = await checkOut(shop, gateway, { coin: 'USDC' });
  await gateway.pay(checkout.gatewayOrderId, { amount: '5' });
  expect(await shop.staff.order(checkout.cart.id)).toMatchObject({ state: 'ArrangingPayment', payments: [] });
  await gateway.pay(checkout.gatewayOrderId);
  await soldOnce(shop, checkout);
});

test('staff reads of a second payment, of too much, and of a reversal after the capture', async () => {
  const checkout = await checkOut(shop, gateway, { coin: 'USDC' });
  const { remaining_amount } = await gateway.client.getOrder(checkout.gatewayOrderId);
  const paid = await gateway.pay(checkout.gatewayOrderId, { amount: (Number(remaining_amount) + 2).toFixed(6) });
  await soldOnce(shop, checkout);
  await staffReads(shop, checkout, /Too much: pay 2 USDC back/);
  await gateway.pay(checkout.gatewayOrderId, { amount: '3' });
  await staffReads(shop, checkout, /Second payment: 3 USDC/);
  await gateway.client.failPayment(paid.payments[0]!.id, { reason: 'reorg' });
  await staffReads(shop, checkout, /Reversed: the payment of this paid order was taken back/);
});

test('staff reads of late money, of too little, and of money for a canceled page', async () => {
  const late = await checkOut(shop, gateway, { coin: 'USDC' });
  await gateway.client.advanceTime(late.gatewayOrderId, { minutes: 61 });
  await gateway.pay(late.gatewayOrderId, { amount: '4' });
  await staffReads(shop, late, /Late: 4 USDC came after the deadline/);

  const little = await checkOut(shop, gateway, { coin: 'USDC' });
  await gateway.pay(little.gatewayOrderId, { amount: '5' });
  await gateway.client.advanceTime(little.gatewayOrderId, { minutes: 61 });
  await staffReads(shop, little, /Too little: .* did not come before the deadline/);
  // Staff lets the rest off.
  await gateway.client.acceptOrder(little.gatewayOrderId, { reason: 'a good customer' });
  await soldOnce(shop, little);

  const left = await checkOut(shop, gateway, { coin: 'USDC' });
  await left.shopper.moveTo('AddingItems');
  await gateway.pay(left.gatewayOrderId, { amount: '6' });
  await staffReads(shop, left, /After the cancellation: 6 USDC/);
  expect(await shop.staff.order(left.cart.id)).toMatchObject({ state: 'AddingItems' });
});

test('a wrong coin is told at the order', async () => {
  const checkout = await checkOut(shop, gateway, { coin: 'USDC' });
  await gateway.pay(checkout.gatewayOrderId, { amount: '2', currency: 'USDT' });
  await staffReads(shop, checkout, /Wrong coin: 2 USDT does not pay this order/);
  expect(await shop.staff.order(checkout.cart.id)).toMatchObject({ state: 'ArrangingPayment' });
  await gateway.pay(checkout.gatewayOrderId);
  await soldOnce(shop, checkout);
});

test('two shops of one merchant sell their own carts', async () => {
  const other = await startVendureWithPlugin(gateway, { shop: 'b2b' });
  try {
    const [mine, theirs] = [await checkOut(shop, gateway), await checkOut(other, gateway)];
    await Promise.all([gateway.pay(mine.gatewayOrderId), gateway.pay(theirs.gatewayOrderId)]);
    await soldOnce(shop, mine);
    await soldOnce(other, theirs);
    for (const order of await other.staff.orders())
      expect(order.payments!.map(({ transactionId }) => transactionId)).toEqual([theirs.gatewayOrderId]);
  } finally {
    await other.close();
  }
});
