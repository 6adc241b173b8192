import { newId, newRequestId } from '@cpg/platform';
import { body as orderBody, MERCHANT, type OrdersService, startOrders, until } from '../testing/jest-orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

const owner = { merchant_id: MERCHANT };
const typesOf = async (id: string) => (await service.recordedOf(id))!.map(({ event }) => event.type);

test.each<[string, 'PATCH' | 'POST', string, object, string]>([
  ['an update', 'PATCH', '', { ...owner, changes: { metadata: { table: 'B7' } } }, 'OrderUpdated'],
  ['an advance of the clock', 'POST', '/time', { minutes: 10 }, 'OrderTimeAdvanced'],
])('%s that is sent again with its request id is recorded once', async (_, method, path, body, type) => {
  const { id } = await service.create();
  const request = { 'x-request-id': newRequestId() };
  const send = (headers: object = request) => service.call(method, `/orders/${id}${path}`, body, headers);
  const answers = await Promise.all([send(), send()]);
  expect(await send()).toEqual(answers[0]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(await typesOf(id)).toEqual(['OrderCreated', type]);
  await send({});
  expect(await typesOf(id)).toEqual(['OrderCreated', type, type]);
});

const UNKNOWN = { status: 503, body: { code: 'outcome_unknown', message: expect.stringContaining('took effect') } };

test.each<[string, (id: string) => readonly ['POST' | 'PATCH', string, object], number, string | null]>([
  ['create', (id) => ['POST', '/orders', { ...owner, order_id: id, order: orderBody() }], 201, null],
  ['cancel', (id) => ['POST', `/orders/${id}/cancel`, owner], 200, 'OrderCanceled'],
  ['capture', (id) => ['POST', `/orders/${id}/capture`, owner], 200, 'OrderPaymentsApplied'],
  ['update', (id) => ['PATCH', `/orders/${id}`, { ...owner, changes: { metadata: {} } }], 200, 'OrderUpdated'],
])('a recorded %s that cannot be shown is 503 without a claim that nothing was done', async (_, call, status, type) => {
  const capabilities = { ...orderBody().capabilities, partial_payments: false };
  const id = type === null ? newId('order') : (await service.create({ capabilities })).id;
  if (type === 'OrderPaymentsApplied') await service.offer(id, 910, 1n);
  const [method, url, body] = call(id);
  const send = () => service.call(method, url, body, { 'x-request-id': `req of ${type}` });
  expect(await service.withoutReadModel(send)).toMatchObject(UNKNOWN);
  const recorded = await typesOf(id);
  expect(recorded.at(-1)).toBe(type ?? 'OrderCreated');

  const repeated = await send();
  expect(repeated).toMatchObject({ status, body: { id } });
  expect(await typesOf(id)).toEqual(recorded);
  expect((await service.rowOf(id)).resource).toEqual(repeated.body);
});

test.each(['rates', 'payments'])('a repeated create finds the order while %s cannot be asked', async (dependency) => {
  const setAvailable = dependency === 'rates' ? service.setRatesAvailable : service.stub.setAvailable;
  const call = { ...owner, order_id: newId('order'), order: orderBody() };
  const create = (order_id = call.order_id) => service.call('POST', '/orders', { ...call, order_id });
  expect(await service.withoutReadModel(create)).toMatchObject(UNKNOWN);
  setAvailable(false);
  try {
    expect(await create()).toMatchObject({ status: 201, body: { id: call.order_id } });
    expect(await create(newId('order'))).toMatchObject({
      status: 503,
      body: { code: dependency === 'rates' ? 'rate_unavailable' : 'dependency_unavailable' },
    });
  } finally {
    setAvailable(true);
  }
});

test('a deletion that could not be finished is finished by a repeat, and by itself', async () => {
  for (const repeats of [true, false]) {
    const { id } = await service.create();
    const remove = () => service.call('DELETE', `/orders/${id}`, owner);
    expect(await service.withoutReadModel(remove)).toMatchObject(UNKNOWN);
    if (repeats) expect(await remove()).toEqual({ status: 200, body: { id, deleted: true } });
    await until(async () => (await service.recordedOf(id)) === null);
    expect((await service.rowOf(id)).deleted).toBe(true);
    // The instance that finishes the deletion forgets the order right after the tombstone.
    await until(async () => (await remove()).status === 404);
  }
});
