import { rpcOf } from '../../harness/chains.ts';
import { payOrder } from '../../pay/pay-order.ts';
import { openGateway, openGatewayAndShop, type ShopGateway } from '../setup/gateway.ts';
import { type MedusaShop, startMedusa } from './medusa-shop.ts';
import {
  checkOut,
  ordersOf,
  PROVIDER,
  soldOnce,
  staffReads,
  startMedusaWithPlugin,
  startPayment,
} from './plugin-shop.ts';

let gateway: ShopGateway;
let shop: MedusaShop;
let close: () => Promise<void>;
beforeAll(async () => void ({ gateway, shop, close } = await openGatewayAndShop(openGateway, startMedusaWithPlugin)));
afterAll(() => close?.());

const call = () => rpcOf(gateway.stack);
const context = () => ({ api: gateway.merchant.api, call: call()!, print: () => {} });
const ONCE = { amount: undefined, token: undefined, times: 1 } as const;

test('a payment on the local chain makes the order, and its reorganization is told', async () => {
  const { orderId } = await checkOut(shop);
  await payOrder(context(), { order: orderId, ...ONCE, reorg: null });
  await soldOnce(shop, orderId);
  const second = await checkOut(shop);
  const beforeReorg = () => soldOnce(shop, second.orderId);
  await payOrder({ ...context(), beforeReorg }, { order: second.orderId, ...ONCE, reorg: 'lost' });
  await staffReads(shop, second.orderId, /Reversed: the payment of this paid order was taken back. Do not ship/);
  const { metadata } = await soldOnce(shop, second.orderId);
  expect(metadata?.crypto_payments).toContain('Do not ship');
});

test('a cart that changes closes its old page, and money that comes there is told', async () => {
  const old = await checkOut(shop);
  await shop.shopper.addLine(old.cartId);
  expect(await gateway.client.getOrder(old.orderId)).toMatchObject({ status: 'canceled' });
  const { orderId } = await startPayment(shop, old.cartId);
  await gateway.pay(old.orderId, { amount: '15.5' });
  await staffReads(shop, old.orderId, /After the cancellation: 15\.5 USDC came for a canceled order. Pay it back/);
  expect(await ordersOf(shop, old.orderId)).toEqual([]);
  await gateway.pay(orderId);
  expect(await soldOnce(shop, orderId)).toMatchObject({ total: 26 });
});

test('a cart that changes while a part is paid keeps its page, and cannot start another', async () => {
  const old = await checkOut(shop);
  await gateway.pay(old.orderId, { amount: '5' });
  await shop.shopper.addLine(old.cartId);
  await expect(startPayment(shop, old.cartId)).rejects.toThrow('A payment for this cart is on its way');
  // The rest is paid on the page that is open.
  await gateway.pay(old.orderId);
  await staffReads(shop, old.orderId, /15\.50 USD was paid for a cart that changed meanwhile/);
});

test('a payment in two parts makes one order', async () => {
  const { orderId } = await checkOut(shop);
  await gateway.pay(orderId, { amount: '5' });
  expect(await ordersOf(shop, orderId)).toEqual([]);
  await gateway.pay(orderId);
  await soldOnce(shop, orderId);
});

test('too little at the deadline is told, and an order that the merchant accepts is sold', async () => {
  const { orderId } = await checkOut(shop);
  await gateway.pay(orderId, { amount: '5' });
  await gateway.client.advanceTime(orderId, { minutes: 61 });
  await staffReads(shop, orderId, /Too little: .* Accept the order as paid, or pay back what came/);
  expect(await ordersOf(shop, orderId)).toEqual([]);
  await gateway.client.acceptOrder(orderId, { reason: 'a good customer' });
  await soldOnce(shop, orderId);
});

test('late money is told, and an order that the merchant captures is sold', async () => {
  const { orderId } = await checkOut(shop);
  await gateway.client.advanceTime(orderId, { minutes: 61 });
  await gateway.pay(orderId);
  await staffReads(shop, orderId, /Late: .* came after the deadline/);
  await gateway.client.captureOrder(orderId);
  await soldOnce(shop, orderId);
});

test('too much, a second payment and a wrong coin are told at the order', async () => {
  const { orderId } = await checkOut(shop);
  await gateway.pay(orderId, { amount: '20' });
  const { id } = await soldOnce(shop, orderId);
  await staffReads(shop, orderId, /Too much: pay .* USDC back to the customer/);
  await gateway.pay(orderId, { amount: '1' });
  await staffReads(shop, orderId, /Second payment: 1 USDC came for an order that is paid/);
  await gateway.pay(orderId, { amount: '2', currency: 'USDT' });
  await staffReads(shop, orderId, /Wrong coin: 2 USDT does not pay this order/);
  const { metadata } = await shop.staff.order(id);
  expect(metadata?.crypto_payments).toMatch(/Too much.*Second payment.*Wrong coin/s);
  const before = (await shop.staff.notifications()).length;
  await gateway.client.updateOrder(orderId, { metadata: { note: 'another event' } });
  await soldOnce(shop, orderId);
  expect(await shop.staff.notifications()).toHaveLength(before);
});

test('a paid cart without stock is told, and is an order once there is stock', async () => {
  const { orderId } = await checkOut(shop);
  const stocked = await shop.staff.setStock(0);
  await gateway.pay(orderId);
  await staffReads(shop, orderId, /The cart is paid, but Medusa could not make an order of it/);
  expect(await ordersOf(shop, orderId)).toEqual([]);
  await shop.staff.setStock(stocked);
  await soldOnce(shop, orderId);
});

test('two shops of one merchant sell their own carts', async () => {
  const other = await startMedusa({ plugin: { ...gateway.options, shop: 'b2b' } });
  await other.staff.offer(PROVIDER);
  try {
    const [mine, theirs] = [await checkOut(shop), await checkOut(other)];
    await Promise.all([gateway.pay(mine.orderId), gateway.pay(theirs.orderId)]);
    await soldOnce(shop, mine.orderId);
    await soldOnce(other, theirs.orderId);
    expect(await ordersOf(shop, theirs.orderId)).toEqual([]);
    expect(await ordersOf(other, mine.orderId)).toEqual([]);
    const read = (await other.staff.notifications()).map(({ description }) => description);
    expect(read.filter((text) => text.includes(mine.orderId))).toEqual([]);
  } finally {
    await other.close();
  }
});
