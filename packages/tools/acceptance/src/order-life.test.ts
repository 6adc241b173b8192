import type { Order } from '@cpg/contracts';
import { refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;

beforeAll(async () => {
  shop = await openShop(stack);
});
afterAll(() => shop.api.close());

const create = (changes = {}) => shop.api.createOrder(orderBody(changes));
const pay = ({ id }: Order, amount: string) =>
  shop.api.pay({ order_id: id, payment_rail: 'crypto_deposit', amount, currency: 'USDT' });
const refused = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: unknown) => {
  const answer = await shop.api.send(method, path, { body });
  return { status: answer.status, code: refusalOf(answer).code };
};

describe('canceling', () => {
  test('closes an order that awaits payment', async () => {
    const order = await create();
    const canceled = await shop.api.cancel(order.id);
    expect(canceled).toMatchObject({ id: order.id, status: 'canceled', payments: [] });
    expect(await shop.api.order(order.id)).toEqual(canceled);
  });

  test('is idempotent', async () => {
    const order = await create();
    const canceled = await shop.api.cancel(order.id);
    expect(await shop.api.cancel(order.id)).toEqual(canceled);
  });

  test('orphans the payment of a partly paid order', async () => {
    const order = await create();
    await pay(order, '4');
    const { payments, status } = await shop.api.cancel(order.id);
    expect(status).toBe('canceled');
    expect(payments).toMatchObject([{ status: 'orphan', orphan_reason: 'canceled', paid_amount: '4.000000' }]);
    expect(await shop.api.payment(payments[0]!.id)).toEqual(payments[0]);
  });

  test('is refused without the capability', async () => {
    const order = await create({ capabilities: { can_cancel: false } });
    expect(await refused('POST', `/v1/orders/${order.id}/cancel`)).toEqual({ status: 409, code: 'cancel_not_allowed' });
    expect(await shop.api.order(order.id)).toEqual(order);
  });

  test('is refused for a paid order', async () => {
    const order = await create();
    const paid = await pay(order, '10');
    expect(await refused('POST', `/v1/orders/${order.id}/cancel`)).toEqual({
      status: 409,
      code: 'order_state_conflict',
    });
    expect(await shop.api.order(order.id)).toEqual(paid);
  });
});

describe('capturing', () => {
  test('returns the order unchanged if no payment is held', async () => {
    const order = await create();
    expect(await shop.api.capture(order.id)).toEqual(order);
    const paid = await pay(order, '10');
    expect(await shop.api.capture(order.id)).toEqual(paid);
  });

  test('applies a held payment although partial payments are not allowed', async () => {
    const order = await create({ capabilities: { partial_payments: false } });
    expect(await pay(order, '4')).toMatchObject({ status: 'awaiting_payment', payments: [{ status: 'received' }] });
    const captured = await shop.api.capture(order.id);
    expect(captured).toMatchObject({
      status: 'partially_paid',
      remaining_amount: '6.000000',
      payments: [{ status: 'applied', applied_amount: '4.000000' }],
    });
    expect(await shop.api.payment(captured.payments[0]!.id)).toEqual(captured.payments[0]);
  });

  test('is refused for a canceled order', async () => {
    const order = await create();
    await shop.api.cancel(order.id);
    expect(await refused('POST', `/v1/orders/${order.id}/capture`)).toEqual({
      status: 409,
      code: 'order_state_conflict',
    });
  });
});

describe('changing', () => {
  test('merges metadata, even of a paid order', async () => {
    const order = await create({ metadata: { a: 1, b: 2 } });
    const changed = await shop.api.updateOrder(order.id, { metadata: { a: null, c: 3 } });
    expect(changed).toEqual({ ...order, metadata: { b: 2, c: 3 }, updated_at: changed.updated_at });
    expect(changed.updated_at! >= order.updated_at!).toBe(true);
    await pay(order, '10');
    const last = await shop.api.updateOrder(order.id, { metadata: { b: null, c: null } });
    expect(last).toMatchObject({ status: 'paid', metadata: {} });
  });

  test('moves the deadline, counted from now', async () => {
    const order = await create({ expiration_minutes: 5 });
    const changed = await shop.api.updateOrder(order.id, { expiration_minutes: 60 });
    expect(Date.parse(changed.expiration_date!)).toBe(Date.parse(changed.updated_at!) + 60 * 60_000);
    for (const { expires_at } of changed.deposit_instructions) expect(expires_at).toBe(changed.expiration_date);
  });

  test('refuses a new deadline for a closed order', async () => {
    const order = await create();
    await shop.api.cancel(order.id);
    expect(await refused('PATCH', `/v1/orders/${order.id}`, { expiration_minutes: 60 })).toEqual({
      status: 409,
      code: 'order_state_conflict',
    });
  });

  test('is refused without the capability', async () => {
    const order = await create({ capabilities: { can_update: false } });
    expect(await refused('PATCH', `/v1/orders/${order.id}`, { metadata: {} })).toEqual({
      status: 409,
      code: 'update_not_allowed',
    });
  });
});

describe('deleting', () => {
  const gone = { status: 404, code: 'not_found' };

  test('removes an order and its payments from every endpoint and list', async () => {
    const order = await create({ external_reference_id: 'to-delete' });
    const { payments } = await pay(order, '10');
    expect(await shop.api.deleteOrder(order.id)).toEqual({ id: order.id, deleted: true });

    const answers = await Promise.all([
      shop.api.send('GET', `/v1/orders/${order.id}`),
      shop.api.send('GET', `/v1/payments/${payments[0]!.id}`),
      shop.api.send('PATCH', `/v1/orders/${order.id}`, { body: { metadata: {} } }),
      shop.api.send('POST', `/v1/orders/${order.id}/cancel`),
      shop.api.send('POST', `/v1/orders/${order.id}/capture`),
      shop.api.send('DELETE', `/v1/orders/${order.id}`),
      shop.api.send('POST', '/debug/register-payment', {
        body: { order_id: order.id, payment_rail: 'gateway_pay', amount: '1', currency: 'USDT' },
      }),
    ]);
    expect(answers.map((answer) => ({ status: answer.status, code: refusalOf(answer).code }))).toEqual(
      Array(answers.length).fill(gone),
    );
    expect((await shop.api.orders({ external_reference_id: 'to-delete' })).total).toBe(0);
    const ids = (await shop.api.payments({ limit: 100 })).items.map(({ id }) => id);
    expect(ids).not.toContain(payments[0]!.id);
  });

  test('is refused while the order has unsettled funds', async () => {
    const partly = await create();
    await pay(partly, '4');
    const held = await create({ capabilities: { partial_payments: false } });
    await pay(held, '4');
    const orphaned = await create();
    await pay(orphaned, '4');
    await shop.api.cancel(orphaned.id);
    for (const { id } of [partly, held, orphaned]) {
      const before = await shop.api.order(id);
      expect(await refused('DELETE', `/v1/orders/${id}`)).toEqual({ status: 409, code: 'order_has_unsettled_funds' });
      expect(await shop.api.order(id)).toEqual(before);
    }
  });
});
