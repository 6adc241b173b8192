import { Checkout, type Order } from '@cpg/contracts';
import { refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { item, orderBody } from './harness/order-bodies.ts';
import { type Receiver, startReceiver, verifyDelivery } from './harness/receiver.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let receiver: Receiver;
beforeAll(async () => {
  [shop, receiver] = await Promise.all([openShop(stack), startReceiver()]);
});
afterAll(() => Promise.all([shop.api.close(), receiver.close()]));

const pageOf = async ({ payment_url }: Order) =>
  Checkout.parse(await (await fetch(payment_url!, { headers: { accept: 'application/json' } })).json());
const addressesOf = ({ deposit_instructions }: Order) =>
  deposit_instructions.map((each) => (each.rail === 'crypto_deposit' ? each.address : each.payment_reference));
/** The sandbox reports money that is not confirmed yet. */
const see = async ({ id }: Order, amount: string) => {
  const body = { order_id: id, payment_rail: 'gateway_pay', amount, currency: 'USDT', outcome: 'pending' };
  const { status, text } = await shop.api.send('POST', '/debug/register-payment', { body });
  expect([status, text]).toEqual([201, text]);
};
const cancelIfUnpaid = ({ id }: Order) =>
  shop.api.send('POST', `/v1/orders/${id}/cancel`, { body: { if_unpaid: true } });
const inProgress = { code: 'payment_in_progress', statusCode: 409 };

test('a cart changes while its page is open: the same page and addresses take the new amount', async () => {
  const { id: webhookId, secret } = await shop.api.createWebhook({
    url: receiver.urlOf('/cart'),
    events: ['order:updated'],
  });
  await shop.api.updateWebhook(webhookId, { is_enabled: true });
  const order = await shop.api.createOrder(orderBody());
  expect(await pageOf(order)).toMatchObject({ total: '10.000000', remaining: '10.000000' });

  const items = [item('10', 'USDT'), item('100', 'MXN', { name: 'Cake' })];
  const changed = await shop.api.updateOrder(order.id, { items, metadata: { cart: 2 } });
  expect(changed).toMatchObject({ status: 'awaiting_payment', items, metadata: { cart: 2 } });
  expect(changed.expiration_date).toBe(order.expiration_date);
  expect(Object.keys(changed.rates).sort()).toEqual(['MXN', 'USDT']);
  expect(Number(changed.total_amount)).toBeGreaterThan(10);
  expect(addressesOf(changed)).toEqual(addressesOf(order));
  expect(await shop.api.order(order.id)).toEqual(changed);
  const page = await pageOf(order);
  expect(page).toMatchObject({ total: changed.total_amount, remaining: changed.remaining_amount });
  expect(page.lines).toHaveLength(2);
  const [attempt] = await receiver.attempts('/cart', 1);
  expect(verifyDelivery(attempt!, secret)).toMatchObject({ event: 'order:updated', data: changed });

  // The old amount is too little now.
  const partly = await shop.api.pay({
    order_id: order.id,
    payment_rail: 'gateway_pay',
    amount: '10',
    currency: 'USDT',
  });
  expect(partly.status).toBe('partially_paid');
  const { remaining_amount: amount } = partly;
  const paid = await shop.api.pay({ order_id: order.id, payment_rail: 'gateway_pay', amount, currency: 'USDT' });
  expect(paid).toMatchObject({ status: 'paid', total_amount: changed.total_amount });
});

test('once money was seen, items stay and a cancel of an unpaid order is refused, and nothing else changes with them', async () => {
  const order = await shop.api.createOrder(orderBody());
  await see(order, '10');
  const shown = await shop.api.order(order.id);
  const patch = await shop.api.send('PATCH', `/v1/orders/${order.id}`, {
    body: { items: [item('20', 'USDT')], metadata: { cart: 2 } },
  });
  expect(refusalOf(patch)).toMatchObject(inProgress);
  expect(refusalOf(await cancelIfUnpaid(order))).toMatchObject(inProgress);
  expect(await shop.api.order(order.id)).toEqual(shown);
  // Without the condition, the merchant takes the money as an orphan.
  expect(await shop.api.cancel(order.id)).toMatchObject({ status: 'canceled' });
});

test('a cancel of an unpaid order cancels it, and a repeat returns it', async () => {
  const order = await shop.api.createOrder(orderBody());
  const canceled = await cancelIfUnpaid(order);
  expect([canceled.status, canceled.body.status]).toEqual([201, 'canceled']);
  expect((await cancelIfUnpaid(order)).body).toEqual(canceled.body);
  const patch = await shop.api.send('PATCH', `/v1/orders/${order.id}`, { body: { items: [item('20', 'USDT')] } });
  expect(refusalOf(patch)).toMatchObject({ code: 'order_state_conflict' });
});

test('items that a create refuses are refused in a change too', async () => {
  const order = await shop.api.createOrder(orderBody());
  const faultsOf = async (items: unknown) =>
    refusalOf(await shop.api.send('PATCH', `/v1/orders/${order.id}`, { body: { items } })).details?.map(
      ({ path }) => path,
    );
  expect(await faultsOf([])).toEqual(['items']);
  expect(await faultsOf([item('0', 'USDT')])).toEqual(['items']);
  expect(await faultsOf([item('1.0000001', 'USDT')])).toEqual(['items.0.unit_price']);
  expect(await shop.api.order(order.id)).toEqual(order);
});
