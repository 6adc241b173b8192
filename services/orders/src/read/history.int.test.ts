import type { RecordedEntry } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { type OrdersService, startOrders, until } from '../testing/jest-orders.ts';
import { payment } from '../testing/orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

const ALWAYS = { from: '2020-01-01T00:00:00.000Z', to: '2999-01-01T00:00:00.000Z' };
const query = (values: Record<string, string | number>) =>
  new URLSearchParams(Object.entries(values).map(([name, value]): [string, string] => [name, String(value)]));
const ordersOf = async (merchantId: string, range: object = {}) =>
  (await service.call('GET', `/merchants/${merchantId}/orders?${query({ ...ALWAYS, limit: 100, ...range })}`)).body;
const messagesOf = async (id: string, range: object = {}) =>
  (await service.call('GET', `/orders/${id}/messages?${query({ ...ALWAYS, ...range })}`)).body;
const recorded = async (id: string) => (await service.call('GET', `/orders/${id}/history?${query(ALWAYS)}`)).body;
const stateAt = async (id: string, at: string) =>
  (await service.call('GET', `/orders/${id}/state?${query({ at })}`)).body;
const TEN_USDC = { items: [{ name: 'x', quantity: 1, unit_price: '10', currency: 'USDC' }] };
/** Creates an order of 10 USDC, by a new merchant by default. */
const create = (merchantId = newId('merchant')) => service.create(TEN_USDC, merchantId);

test('returns the messages of an order exactly as they were published', async () => {
  const order = await create();
  await service.call('PATCH', `/orders/${order.id}`, {
    merchant_id: order.merchant_id,
    changes: { metadata: { 2: 'b', 1: 'a' } },
  });
  await service.offer(order.id, 901, 10_000_000n);
  await until(async () => service.messagesOf(order.id).some(({ type }) => type === 'order.paid'));
  const { messages, more } = await messagesOf(order.id);
  expect(more).toBe(false);
  expect(messages.map(({ message }: { message: unknown }) => JSON.stringify(message))).toEqual(
    service.messagesOf(order.id).map((message) => JSON.stringify(message)),
  );
});

test('continues after a cursor and leaves out messages outside the range', async () => {
  const order = await create();
  await service.offer(order.id, 902, 10_000_000n);
  const all = (await messagesOf(order.id)).messages;
  expect((await messagesOf(order.id, { after: all[0].place })).messages).toEqual(all.slice(1));
  expect((await messagesOf(order.id, { to: '2020-01-02T00:00:00.000Z' })).messages).toEqual([]);
});

test('lists the orders with events in a range, oldest first, page by page', async () => {
  const merchantId = newId('merchant');
  const created = [];
  for (let n = 0; n < 5; n += 1) created.push(await create(merchantId));
  await create();
  const ids = created.map(({ id }) => id);
  const found: string[] = [];
  for (let after: string | null = null; ;) {
    const { orders, next } = await ordersOf(merchantId, { limit: 2, ...(after !== null && { after }) });
    found.push(...orders.map(({ id }: { id: string }) => id));
    if (next === null) break;
    after = next;
  }
  expect(found).toEqual(ids);
  const before = new Date(Date.parse(created[0].created_at) - 1).toISOString();
  expect(await ordersOf(merchantId, { to: before })).toEqual({ orders: [], next: null });
  const later = new Date(Date.now() + 60_000).toISOString();
  expect(await ordersOf(merchantId, { from: later })).toEqual({ orders: [], next: null });
});

test('shows a refund that is reported later than it happened from the `updated_at` of its response on, not earlier', async () => {
  const order = await create();
  await service.offer(order.id, 903, 10_000_000n);
  const changed = await service.call('PATCH', `/orders/${order.id}`, {
    merchant_id: order.merchant_id,
    changes: { metadata: { table: 'B7' } },
  });
  const refunded = await service.call('POST', `/orders/${order.id}/payments/${payment(903, 1n).paymentId}/refunds`, {
    refund_id: newId('refund'),
    refunded_total_minor: '1000000',
    at: order.created_at,
  });
  const answers = [changed.body, refunded.body.order];
  for (const answer of answers) expect(await stateAt(order.id, answer.updated_at)).toEqual(answer);
  const { resource, last_event_at } = await service.rowOf(order.id);
  expect(resource).toEqual(answers[1]);
  expect(last_event_at.toISOString()).toBe(answers[1].updated_at);
  await until(async () => service.messagesOf(order.id).some(({ type }) => type === 'order.payment_refunded'));
  expect(service.messagesOf(order.id).at(-1)!.data.resource).toEqual(answers[1]);
});

test('changes at the same moment get different `updated_at`, and each answer is the state at its own', async () => {
  const order = await create();
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const call = { merchant_id: order.merchant_id, changes: { metadata: { n } } };
      return (await service.call('PATCH', `/orders/${order.id}`, call)).body;
    }),
  );
  expect(new Set(answers.map(({ updated_at }) => updated_at)).size).toBe(answers.length);
  for (const answer of answers) expect(await stateAt(order.id, answer.updated_at)).toEqual(answer);
});

// One request examines 2,000 orders: 4,500 need three.
test('examines a bounded number of orders per request and returns a cursor', async () => {
  const merchantId = newId('merchant');
  await service.pool.query(
    `insert into orders.orders (id, merchant_id, status, currency, created_at, last_event_at, revision)
     select 'old_' || lpad(n::text, 5, '0'), $1, 'expired', 'USDC', $2::timestamptz + n * interval '1 ms', $2, 0 from generate_series(1, 4500) as n`,
    [merchantId, '2024-01-01T00:00:00.000Z'],
  );
  const order = await create(merchantId);
  const answers = [];
  for (let after = ''; ; after = answers.at(-1).next) {
    answers.push(await ordersOf(merchantId, { from: order.created_at, ...(after && { after }) }));
    if (answers.at(-1).next === null) break;
  }
  await service.pool.query("delete from orders.orders where id like 'old\\_%'");
  expect(answers.map(({ orders }) => orders.map(({ id }: { id: string }) => id))).toEqual([[], [], [order.id]]);
});

test('lists orders created and changed at the very ends of the range, and none of another merchant', async () => {
  const merchantId = newId('merchant');
  const [one, two, three, deleted, other] = Array.from({ length: 5 }, () => newId('order')).toSorted();
  const [created, changed, early] = [
    '2024-05-01T12:00:00.000Z',
    '2024-05-02T12:00:00.000Z',
    '2024-05-01T11:00:00.000Z',
  ];
  const insert = (id: string, owner: string, lastEventAt: string | null, isDeleted = false) =>
    service.pool.query(
      `insert into orders.orders (id, merchant_id, status, currency, created_at, last_event_at, revision, deleted)
       values ($1, $2, 'expired', 'USDC', $3, $4, 0, $5)`,
      [id, owner, created, lastEventAt, isDeleted],
    );
  await insert(one!, merchantId, changed);
  // An order without the time of its last event is listed whatever `from` is.
  await insert(two!, merchantId, null);
  await insert(three!, merchantId, created);
  await insert(deleted!, merchantId, changed, true);
  await insert(other!, newId('merchant'), changed);
  const found = async (range: object) => (await ordersOf(merchantId, range)).orders.map(({ id }: { id: string }) => id);
  const places = [one, two, three].map((id) => `${created} ${id}`);
  try {
    // An order is found if it was created by `to` and changed at or after `from`: here at both ends.
    expect(await found({ from: changed, to: created })).toEqual([one, two]);
    expect(await found({ from: created, to: created })).toEqual([one, two, three]);
    expect(await found({ from: early, to: early })).toEqual([]);
    expect(await found({ from: early, after: places[0] })).toEqual([two, three]);
    expect(await found({ from: early, after: places[2] })).toEqual([]);
  } finally {
    await service.pool.query('delete from orders.orders where created_at = $1', [created]);
  }
});

test('lists no deleted order', async () => {
  const order = await create();
  await service.call('DELETE', `/orders/${order.id}`, { merchant_id: order.merchant_id });
  expect(await ordersOf(order.merchant_id)).toEqual({ orders: [], next: null });
  expect(await messagesOf(order.id)).toEqual({ messages: [], more: false });
});

test('returns the recorded events of an order, and its state after each', async () => {
  const order = await create();
  const changed = await service.call('PATCH', `/orders/${order.id}`, {
    merchant_id: order.merchant_id,
    changes: { metadata: { table: 'B7' } },
  });
  const { messages } = await recorded(order.id);
  const events = (await service.recordedOf(order.id))!;
  expect(messages.map(({ message }: { message: RecordedEntry }) => message)).toEqual(
    events.map(({ id, event, revision, metadata }) => ({
      id,
      stream: `order-${order.id}`,
      sequence: revision,
      type: event.type,
      at: event.data.at,
      recorded_at: expect.any(String),
      actor: metadata.actor,
      request_id: metadata.requestId,
      correlation_id: metadata.$correlationId,
      causation_id: metadata.$causationId,
      previous_hash: metadata.previousHash,
      hash_version: 2,
      salt: metadata.salt,
      hash: metadata.hash,
      data: event.data,
    })),
  );
  const at = async (instant: string) => service.call('GET', `/orders/${order.id}/state?${query({ at: instant })}`);
  expect((await at(order.created_at)).body).toEqual(order);
  expect((await at(ALWAYS.to)).body).toEqual(changed.body);
  expect((await at(ALWAYS.from)).status).toBe(404);
});

test('returns only the deletion record of a deleted order', async () => {
  const order = await create();
  await service.call('DELETE', `/orders/${order.id}`, { merchant_id: order.merchant_id });
  const { messages, more } = await recorded(order.id);
  expect(more).toBe(false);
  expect(messages.map(({ message }: { message: RecordedEntry }) => message.type)).toEqual(['OrderDeletionRecorded']);
});

test('refuses a caller without a token', async () => {
  const id = newId('order');
  for (const url of [
    `/merchants/${newId('merchant')}/orders`,
    `/orders/${id}/messages`,
    `/orders/${id}/history`,
    `/orders/${id}/state`,
  ])
    expect((await service.app.inject(`${url}?${query({ ...ALWAYS, limit: 1 })}`)).statusCode).toBe(401);
});
