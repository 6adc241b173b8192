import type { Order } from '@cpg/contracts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(stack);
});
afterAll(() => shop.api.close());

let hashes = 0;
const create = (changes = {}): Promise<Order> => shop.api.createOrder(orderBody(changes));
const post = async (path: string, body?: object) => {
  const { status, headers, body: answer } = await shop.api.send('POST', path, body === undefined ? {} : { body });
  return { status, location: String(headers.location), body: answer };
};
const pay = async ({ id }: Order, amount: string, more: object = {}) => {
  hashes += 1;
  const txHash = `0xsandbox${process.pid}-${hashes}`;
  const body = { order_id: id, payment_rail: 'crypto_deposit', amount, currency: 'USDT', txHash, ...more };
  return { again: () => post('/debug/register-payment', body), ...(await post('/debug/register-payment', body)) };
};
const read = async (id: string) => (await shop.api.send('GET', `/v1/orders/${id}`)).body;

test('a pending payment is received until its rail confirms it', async () => {
  const order = await create();
  const pending = await pay(order, '10', { outcome: 'pending' });
  expect(pending).toMatchObject({
    status: 201,
    body: { status: 'awaiting_payment', payments: [{ status: 'received' }] },
  });
  const confirmed = await post(`/debug/payments/${pending.body.payments[0].id}/confirm`);
  expect(confirmed).toMatchObject({ status: 201, body: { status: 'paid', payments: [{ status: 'applied' }] } });
  expect(await post(`/debug/payments/${pending.body.payments[0].id}/confirm`)).toEqual(confirmed);
});

test('a failed payment is dropped, and repeating the report changes nothing', async () => {
  const failed = await pay(await create(), '10', { outcome: 'failed' });
  expect(failed).toMatchObject({
    status: 201,
    body: { status: 'awaiting_payment', payments: [{ status: 'failed', failure_reason: 'dropped' }] },
  });
  expect((await failed.again()).body).toEqual(failed.body);
});

test('a reorganized payment reverses its order, and a new payment settles it again', async () => {
  const order = await create();
  const { body } = await pay(order, '10');
  expect((await post(`/debug/payments/${body.payments[0].id}/fail`)).body).toMatchObject({
    status: 'reversed',
    remaining_amount: '10.000000',
    payments: [{ status: 'failed', failure_reason: 'reorg' }],
  });
  expect((await pay(order, '10')).body.status).toBe('paid');
});

test('advancing the clock of an order expires or renews it', async () => {
  const order = await create();
  expect((await post(`/debug/orders/${order.id}/advance-time`, { minutes: 61 })).body.status).toBe('expired');
  expect((await post(`/debug/orders/${order.id}/advance-time`, { minutes: 1 })).status).toBe(409);
  const renewing = await create({ capabilities: { expiration_auto_renewal: true } });
  const { body } = await post(`/debug/orders/${renewing.id}/advance-time`, { minutes: 61 });
  expect(body.status).toBe('awaiting_payment');
  expect(body.expiration_date > renewing.expiration_date!).toBe(true);
});

test('a refund without an amount gives back the surplus alone, and the payment is due back no more', async () => {
  const order = await create();
  const { id } = (await pay(order, '12')).body.payments[0];
  const due = () => shop.api.send('GET', `/v1/payments?due_back=true&order_id=${order.id}`);
  expect((await due()).body).toMatchObject({ total: 1, items: [{ id, due_back_amount: '2.000000' }] });
  expect(await read(order.id)).toMatchObject({ status: 'paid', due_back_amount: '2.000000' });
  const refunded = await post(`/v1/payments/${id}/refund`);
  expect(refunded).toMatchObject({ status: 201, body: { status: 'applied', refunded_amount: '2.000000' } });
  expect((await due()).body).toMatchObject({ total: 0 });
  const after = await read(order.id);
  expect([after.status, after.due_back_amount]).toEqual(['paid', undefined]);
});

test('a partial refund leaves the order paid; a full refund reverses it and allows its deletion', async () => {
  const order = await create();
  const { id } = (await pay(order, '10')).body.payments[0];
  const part = await post(`/v1/payments/${id}/refund`, { amount: '4', reason: 'a cup was broken' });
  expect(part).toMatchObject({
    status: 201,
    body: { status: 'applied', applied_amount: '6.000000', refunded_amount: '4.000000' },
  });
  const paymentIn = ({ refund_id: _, ...payment }: Record<string, unknown>) => payment;
  expect(await read(order.id)).toMatchObject({
    status: 'paid',
    remaining_amount: '0.000000',
    payments: [paymentIn(part.body)],
  });
  const unsaid = await post(`/v1/payments/${id}/refund`);
  expect(unsaid).toMatchObject({ status: 400, body: { code: 'refund_amount_required' } });
  const rest = await post(`/v1/payments/${id}/refund`, { what: 'all' });
  expect(rest).toMatchObject({ status: 201, body: { status: 'refunded', refunded_amount: '10.000000' } });
  expect(await read(order.id)).toMatchObject({ status: 'reversed', payments: [paymentIn(rest.body)] });
  expect(await post(`/v1/payments/${id}/refund`)).toMatchObject({ status: 409, body: { code: 'nothing_to_refund' } });
  const refunds = () => shop.api.send('GET', `/v1/refunds?order_id=${order.id}`);
  expect((await refunds()).body).toMatchObject({
    items: [
      { payment_id: id, amount: '6.000000' },
      { payment_id: id, amount: '4.000000', reason: 'a cup was broken' },
    ],
  });
  expect((await shop.api.send('GET', part.location)).body).toMatchObject({ amount: '4.000000' });
  expect((await shop.api.send('DELETE', `/v1/orders/${order.id}`)).status).toBe(200);
  expect((await refunds()).body).toMatchObject({ items: [], total: 0 });
});
