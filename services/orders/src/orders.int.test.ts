import type { Metadata } from '@cpg/contracts';
import { append } from '@cpg/event-sourcing';
import { METADATA } from '@cpg/event-sourcing/testing';
import { newId } from '@cpg/platform';
import { rebuild, verify } from '@cpg/operations';
import { MAX_PAYMENTS } from './order/state.ts';
import {
  body,
  CONTEXT,
  MERCHANT,
  type OrdersService,
  startOrders,
  TOLERANT_MERCHANT,
  until,
} from './testing/jest-orders.ts';
import { capabilities, offerCall, payment, paymentId } from './testing/orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

test('a created order is priced, instructed, durable, visible at once and published to Kafka', async () => {
  const urls = { return_url: 'https://shop.example/thanks?table=B7', cancel_url: 'https://shop.example/cart' };
  const order = await service.create(urls);
  // 2 x 45.50 + 9 = 100 MXN at 0.0545
  expect(order).toMatchObject({
    status: 'awaiting_payment',
    total_amount: '5.450000',
    remaining_amount: '5.450000',
    rates: { MXN: { rate: '0.0545', source: 'sandbox' } },
    ...urls,
  });
  expect(order.deposit_instructions[0]).toMatchObject({
    rail: 'gateway_pay',
    amount: '5.450000',
    payment_reference: 'REF',
  });
  const row = await service.rowOf(order.id);
  expect(row).toMatchObject({ merchant_id: MERCHANT, status: 'awaiting_payment', revision: '0' });
  expect(row.resource).toEqual(order);
  const [recorded] = (await service.recordedOf(order.id))!;
  expect(recorded!.metadata).toMatchObject({ actor: 'key:test' });
  const message = await until(async () => service.messagesOf(order.id)[0]);
  expect(message).toMatchObject({ type: 'order.created', id: recorded!.id, sequence: '0', merchantid: MERCHANT });
  expect(message.data.resource).toEqual(order);
});

test('creating an order twice with one id creates one order', async () => {
  const order = await service.create();
  const { body: again } = await service.call('POST', '/orders', {
    order_id: order.id,
    merchant_id: MERCHANT,
    order: body(),
  });
  expect(again).toEqual(order);
  expect(await service.recordedOf(order.id)).toHaveLength(1);
});

test('a create whose deadline has passed starts nothing', async () => {
  const orderId = newId('order');
  const call = { order_id: orderId, merchant_id: MERCHANT, order: body() };
  const late = await service.call('POST', '/orders', call, { 'x-deadline-ms': '0' });
  expect(late).toMatchObject({ status: 503, body: { code: 'overloaded' } });
  expect(await service.recordedOf(orderId)).toEqual([]);
  expect((await service.call('POST', '/orders', call, { 'x-deadline-ms': '60000' })).status).toBe(201);
});

test('applies each payment once when all are offered concurrently and twice', async () => {
  const order = await service.create({ items: [{ name: 'x', quantity: 1, unit_price: '10', currency: 'USDC' }] });
  const offers = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5].map((n) => service.offer(order.id, n, 2_000_000n));
  const answers = await Promise.all(offers);
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect(answers.every(({ body: { outcomes } }) => outcomes.length > 0 && outcomes[0].status === 'applied')).toBe(true);
  const { resource } = await service.rowOf(order.id);
  expect(resource).toMatchObject({ status: 'paid', remaining_amount: '0.000000' });
  expect(resource.payments).toHaveLength(5);
  await until(async () => service.messagesOf(order.id).some(({ type }) => type === 'order.paid'));
  const sequence = service.messagesOf(order.id).map((message) => Number(message.sequence));
  expect(sequence).toEqual(sequence.map((_, index) => index));
});

test('answers 404 for an order of another merchant', async () => {
  const order = await service.create();
  for (const [method, url] of [
    ['POST', 'cancel'],
    ['POST', 'capture'],
  ] as const) {
    expect(await service.call(method, `/orders/${order.id}/${url}`, { merchant_id: newId('merchant') })).toMatchObject({
      status: 404,
    });
  }
  expect(await service.call('DELETE', `/orders/${order.id}`, { merchant_id: newId('merchant') })).toMatchObject({
    status: 404,
  });
});

test('a cancellation sends payments the outcomes of its payments', async () => {
  const order = await service.create();
  await service.offer(order.id, 7, 1_000_000n);
  const canceled = await service.call('POST', `/orders/${order.id}/cancel`, { merchant_id: MERCHANT });
  expect(canceled.body).toMatchObject({
    status: 'canceled',
    payments: [{ status: 'orphan', orphan_reason: 'canceled' }],
  });
  expect(service.stub.calls.at(-1)).toMatchObject({
    path: 'POST /outcomes',
    body: { outcomes: [{ status: 'orphan', orphan_reason: 'canceled' }] },
  });
});

test('a capture asks payments which orphans a refund pays back, and names the refund', async () => {
  const order = await service.create();
  const elsewhere = payment(8, 1_000_000n, { providerId: 'eip155:99/0x8:0', seenAt: service.now().toISOString() });
  await service.call('POST', `/orders/${order.id}/payments`, offerCall(elsewhere, true));
  const capture = () => service.call('POST', `/orders/${order.id}/capture`, { merchant_id: MERCHANT });
  const refundId = newId('refund');
  service.stub.setOpenRefunds({ [elsewhere.paymentId]: refundId });
  expect(await capture()).toMatchObject({
    status: 409,
    body: { code: 'order_state_conflict', message: expect.stringContaining(refundId) },
  });
  service.stub.setOpenRefunds({});
  expect(await capture()).toMatchObject({
    status: 200,
    body: { status: 'partially_paid', payments: [{ status: 'applied' }] },
  });
});

test('changes of metadata at the same time lose nothing', async () => {
  const order = await service.create({ metadata: { a: 1 } });
  const update = (metadata: object) => ({
    type: 'UpdateOrder' as const,
    rateLockMaxMinutes: 1_440,
    metadata: metadata as Metadata,
    at: service.now(),
  });
  await Promise.all([
    service.call('PATCH', `/orders/${order.id}`, { merchant_id: MERCHANT, changes: { metadata: { b: 2 } } }),
    service.other.run(order.id, update({ c: 3 }), CONTEXT),
    service.call('PATCH', `/orders/${order.id}`, { merchant_id: MERCHANT, changes: { metadata: { d: 4, a: null } } }),
  ]);
  const tooMuch = { metadata: { e: 'x'.repeat(16_370) } };
  expect(await service.call('PATCH', `/orders/${order.id}`, { merchant_id: MERCHANT, changes: tooMuch })).toMatchObject(
    {
      status: 400,
      body: { code: 'invalid_request', details: [{ path: 'metadata' }] },
    },
  );
  const { metadata } = (await service.rowOf(order.id)).resource;
  expect(metadata).toEqual({ b: 2, c: 3, d: 4 });
});

test('expires an unpaid order at its deadline', async () => {
  const order = await service.create({ expiration_minutes: 5 });
  service.advanceClock(6 * 60_000);
  const row = await until(async () => {
    const found = await service.rowOf(order.id);
    return found.status === 'expired' && found;
  });
  expect(row.due_at).toBeNull();
});

test('sends payments the outcomes of a timer, without waiting for Kafka', async () => {
  const order = await service.create({
    expiration_minutes: 5,
    capabilities: { ...capabilities, partial_payments: false },
  });
  await service.offer(order.id, 41, 1_000_000n);
  service.advanceClock(6 * 60_000);
  const outcome = { status: 'orphan', payment_id: paymentId(41), orphan_reason: 'insufficient' };
  const sent = await until(async () =>
    service.stub.calls.find(
      ({ path, body: sent }) => path === 'POST /outcomes' && JSON.stringify(sent).includes(paymentId(41)),
    ),
  );
  expect(sent.body).toMatchObject({ outcomes: [outcome] });
});

test('expires an order at the deadline that another instance set, despite a stale cache', async () => {
  const order = await service.create({ expiration_minutes: 60 });
  await service.other.run(
    order.id,
    { type: 'UpdateOrder', rateLockMaxMinutes: 1_440, expirationMinutes: 5, at: service.now() },
    CONTEXT,
  );
  service.advanceClock(6 * 60_000);
  await until(async () => (await service.rowOf(order.id)).claimed_until);
  // The claim of the failed attempt must end first.
  service.advanceClock(31_000);
  await until(async () => (await service.rowOf(order.id)).status === 'expired');
});

test('renews an order at its deadline', async () => {
  const order = await service.create({
    expiration_minutes: 5,
    capabilities: { ...capabilities, expiration_auto_renewal: true },
  });
  service.advanceClock(6 * 60_000);
  const row = await until(async () => {
    const found = await service.rowOf(order.id);
    return found.revision === '1' && found;
  });
  expect(row.status).toBe('awaiting_payment');
  expect(row.resource.expiration_date > order.expiration_date).toBe(true);
});

test('renews an order when its rates end, before its deadline', async () => {
  const order = await service.create({
    expiration_minutes: 3 * 1_440,
    capabilities: { ...capabilities, expiration_auto_renewal: true },
  });
  expect(Date.parse(order.rates.MXN!.expires_at) - Date.parse(order.rates.MXN!.quoted_at)).toBe(1_440 * 60_000);
  service.advanceClock(1_441 * 60_000);
  const row = await until(async () => {
    const found = await service.rowOf(order.id);
    return found.revision === '1' && found;
  });
  expect(row.resource.expiration_date).toBe(order.expiration_date);
  expect(row.resource.rates.MXN.expires_at > order.rates.MXN!.expires_at).toBe(true);
});

test('moves the locked rates with the deadline, and refuses one that they cannot hold', async () => {
  const order = await service.create({ expiration_minutes: 60 });
  const patch = (expiration_minutes: number) =>
    service.call('PATCH', `/orders/${order.id}`, { merchant_id: MERCHANT, changes: { expiration_minutes } });
  const { body: moved } = await patch(120);
  expect(moved.expiration_date > order.expiration_date).toBe(true);
  expect(moved.rates.MXN.expires_at).toBe(moved.expiration_date);
  expect(await patch(1_441)).toMatchObject({ status: 422, body: { code: 'rate_lock_exceeded' } });
  expect((await service.rowOf(order.id)).resource).toEqual(moved);
});

test('an order has its own tolerance for underpayment, or else that of its merchant', async () => {
  const percentOf = async (merchantId: string, own?: number) => {
    const changes = own === undefined ? {} : { underpayment_tolerance_percent: own };
    return (await service.create(changes, merchantId)).underpayment_tolerance_percent;
  };
  expect(await percentOf(MERCHANT)).toBeUndefined();
  expect(await percentOf(MERCHANT, 1.25)).toBe(1.25);
  expect(await percentOf(TOLERANT_MERCHANT)).toBe(0.5);
  expect(await percentOf(TOLERANT_MERCHANT, 0)).toBeUndefined();
  const order = await service.create({ underpayment_tolerance_percent: 1 });
  const { body: paid } = await service.offer(order.id, 71, 5_400_000n);
  expect(paid).toMatchObject({
    order: {
      status: 'paid',
      status_reason: 'settled_within_tolerance',
      total_amount: '5.450000',
      remaining_amount: '0.000000',
      shortfall_amount: '0.050000',
    },
    outcomes: [{ status: 'applied', applied_minor: '5400000', unapplied_minor: '0' }],
  });
});

test('a total in a coin of 18 decimals is rounded up to 8', async () => {
  const { total_amount } = await service.create({ payment_currency: 'ETH' });
  expect(total_amount).toMatch(/^0\.\d{8}0{10}$/);
  expect(BigInt(total_amount.replace('.', '')) > 0n).toBe(true);
});

describe('advancing the clock of an order', () => {
  const advance = (id: string, minutes: number) => service.call('POST', `/orders/${id}/time`, { minutes });

  test('moves the deadline and publishes the change', async () => {
    const order = await service.create({ expiration_minutes: 60 });
    const { status, body: nearer } = await advance(order.id, 45);
    expect({ status, state: nearer.status }).toEqual({ status: 200, state: 'awaiting_payment' });
    expect(Date.parse(order.expiration_date) - Date.parse(nearer.expiration_date)).toBe(45 * 60_000);
    const message = await until(async () =>
      service.messagesOf(order.id).find(({ type }) => type === 'order.time_advanced'),
    );
    expect(message.data).toMatchObject({ change: { minutes: 45 }, resource: { status: 'awaiting_payment' } });
  });

  test('expires or renews the order at once, and notifies payments', async () => {
    const order = await service.create({ capabilities: { ...capabilities, partial_payments: false } });
    await service.offer(order.id, 21, 1_000_000n);
    expect((await advance(order.id, 61)).body).toMatchObject({ status: 'expired', payments: [{ status: 'orphan' }] });
    expect(service.stub.calls.at(-1)).toMatchObject({
      path: 'POST /outcomes',
      body: { outcomes: [{ orphan_reason: 'insufficient' }] },
    });
    expect(await advance(order.id, 1)).toMatchObject({ status: 409, body: { code: 'order_state_conflict' } });
    const renewing = await service.create({ capabilities: { ...capabilities, expiration_auto_renewal: true } });
    const renewed = (await advance(renewing.id, 61)).body;
    expect(renewed.status).toBe('awaiting_payment');
    expect(renewed.expiration_date > renewing.expiration_date).toBe(true);
  });

  test.each([0, 43_201, 1.5])('returns 400 for %d minutes with the path of the field', async (minutes) => {
    const { status, body } = await advance(newId('order'), minutes);
    expect({ status, path: body.details[0].path }).toEqual({ status: 400, path: 'minutes' });
  });
});

test('an order stays initialized while a provider is slow, and gets its instructions later', async () => {
  service.stub.setSlow(true);
  const order = await service.create();
  expect(order).toMatchObject({ status: 'initialized', deposit_instructions: [] });
  service.advanceClock(3_000);
  const asked = () => service.stub.calls.filter(({ body: sent }) => JSON.stringify(sent)?.includes(order.id)).length;
  await until(async () => asked() === 2);
  service.stub.setSlow(false);
  // The failed request for instructions is repeated soon.
  const SOON_MS = 6_000;
  await until(async () => (await service.rowOf(order.id)).claimed_until - service.now().getTime() < SOON_MS);
  service.advanceClock(SOON_MS);
  const row = await until(async () => {
    const found = await service.rowOf(order.id);
    return found.status === 'awaiting_payment' && found;
  });
  expect(row.resource.deposit_instructions).toHaveLength(1);
});

test('orphans a payment beyond the maximum number of payments', async () => {
  const order = await service.create();
  const received = Array.from({ length: MAX_PAYMENTS }, (_, n) => ({
    id: newId('event'),
    event: {
      type: 'OrderPaymentReceived',
      data: { payment: payment(5_000 + n, 1n), confirmed: false, at: order.created_at },
    },
    metadata: METADATA,
  }));
  await append(service.client, `order-${order.id}`, received, 0);
  // On a busy machine an answer can come too late. As payments does, offer the payment again then.
  const offered = (n: number, confirmed: boolean) =>
    until(async () => {
      const { body } = await service.call('POST', `/orders/${order.id}/payments`, offerCall(payment(n, 1n), confirmed));
      return body.code !== 'outcome_unknown' && body;
    });
  expect(await offered(6_000, true)).toMatchObject({
    outcomes: [{ status: 'orphan', orphan_reason: 'too_many_payments' }],
  });
  expect((await offered(6_001, false)).outcomes).toEqual([]);
  expect((await offered(5_000, true)).outcomes).toMatchObject([
    { payment_id: payment(5_000, 1n).paymentId, status: 'applied' },
  ]);
});

describe('a rebuilt read model', () => {
  const rows = async () =>
    (await service.pool.query('select *, null as claimed_until, resource::text from orders.orders order by id')).rows;
  const metadataRows = async () => (await service.pool.query('select from orders.order_metadata')).rowCount!;
  test('has the same rows, with deleted and due ones, and keeps a deletion that happens meanwhile', async () => {
    const remove = (id: string) => service.call('DELETE', `/orders/${id}`, { merchant_id: MERCHANT });
    const { id } = await service.create();
    await remove(id);
    await until(async () => (await service.rowOf(id)).deleted);
    const doomed = await service.create();
    const before = await rows();
    expect(before.some(({ deleted }) => deleted)).toBe(true);
    expect(before.some(({ due_at }) => due_at)).toBe(true);
    const [, deleted] = await Promise.all([rebuild(service.shadowTableOptions()), remove(doomed.id)]);
    expect(deleted.status).toBe(200);
    expect(await service.rowOf(doomed.id)).toMatchObject({ deleted: true, resource: null });
    const others = (all: { id: string }[]) => all.filter(({ id }) => id !== doomed.id);
    expect(others(await rows())).toEqual(others(before));
    // The claims of the timer are no difference.
    await service.pool.query('update orders.orders set claimed_until = now()');
    expect(await verify(service.shadowTableOptions())).toMatchObject({
      rows: before.length + (await metadataRows()),
      differ: 0,
    });
  });

  test('still expires due orders', async () => {
    const order = await service.create({ expiration_minutes: 5 });
    await rebuild(service.shadowTableOptions());
    service.advanceClock(6 * 60_000);
    await until(async () => (await service.rowOf(order.id)).status === 'expired');
  });
});
