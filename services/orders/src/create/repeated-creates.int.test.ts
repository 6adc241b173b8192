import { AppError, type CreateOrderCall } from '@cpg/contracts';
import { newId, newRequestId } from '@cpg/platform';
import {
  body as orderBody,
  CONTEXT,
  MERCHANT,
  type OrdersService,
  startOrders,
  until,
} from '../testing/jest-orders.ts';

let service: OrdersService;
beforeAll(async () => {
  service = await startOrders();
});
afterAll(() => service.stop());

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The call of a gateway for one request with an Idempotency-Key; `send` repeats it. */
const keyed = (requestHash: string, order_id = newId('order')) => {
  const call = { order_id, merchant_id: MERCHANT, order: orderBody(), request_hash: requestHash } as CreateOrderCall;
  return {
    id: order_id,
    call,
    send: (more: object = {}) =>
      service.inject('POST', '/orders', { ...call, ...more }, { 'x-request-id': newRequestId() }),
  };
};
const refusal = (status: number, code: string) => ({ status, body: { code } });

test('a repeat gets the order as it was after its first event, whatever happened since', async () => {
  const { id, call, send } = keyed('a');
  const first = await send();
  expect(first).toMatchObject({ status: 201, headers: { location: `/orders/${id}` } });
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  await service.call('POST', `/orders/${id}/cancel`, { merchant_id: MERCHANT });
  const again = await send();
  expect(again).toMatchObject({
    status: 201,
    headers: { location: `/orders/${id}`, 'idempotency-replayed': 'true' },
  });
  expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
  expect(await keyed('b', id).send()).toMatchObject(refusal(422, 'idempotency_key_reused'));
  // The version before sends no fingerprint.
  expect((await send({ ...call, request_hash: undefined })).body).toEqual(first.body);
  expect((await service.rowOf(id)).status).toBe('canceled');
});

test('the fingerprint is in the metadata of the first event, and not in messages', async () => {
  const { id, send } = keyed('the fingerprint');
  await send();
  const [created] = (await service.recordedOf(id))!;
  expect(created!.metadata.idempotency).toEqual({ requestHash: 'the fingerprint', until: expect.any(String) });
  const [message] = await until(async () => service.messagesOf(id).length > 0 && service.messagesOf(id));
  expect(JSON.stringify(message)).not.toContain('the fingerprint');
  const history = await service.call('GET', `/orders/${id}/history`);
  expect(JSON.stringify(history.body)).not.toContain('the fingerprint');
});

test('of many repeats at once one creates the order, and the others get it', async () => {
  const { id, send } = keyed('a');
  const answers = await Promise.all(Array.from({ length: 20 }, () => send()));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201));
  expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
  expect((await service.recordedOf(id))!).toHaveLength(1);
});

test('of repeats at once in two instances one creates the order, and the others get it', async () => {
  const { call, send } = keyed('a');
  const other = () => service.other.create(call, { ...CONTEXT, requestId: newRequestId() });
  const answers = await Promise.all([...Array.from({ length: 5 }, () => send()), ...Array.from({ length: 5 }, other)]);
  const orders = answers.map((answer) => ('order' in answer ? answer.order.orderId : answer.body.id));
  expect(new Set(orders).size).toBe(1);
  const isRepeat = answers.map((answer) =>
    'order' in answer ? answer.isRepeat : answer.headers['idempotency-replayed'] === 'true',
  );
  expect(isRepeat.filter((repeat) => !repeat)).toHaveLength(1);
});

test('a key of a deleted order is refused, before and after its stream is gone', async () => {
  const { id, send } = keyed('a');
  await send();
  const remove = () => service.call('DELETE', `/orders/${id}`, { merchant_id: MERCHANT });
  const expectRefusals = async () => {
    expect(await send()).toMatchObject(refusal(410, 'order_deleted'));
    expect(await keyed('b', id).send()).toMatchObject(refusal(422, 'idempotency_key_reused'));
  };
  await service.withoutReadModel(async () => {
    expect((await remove()).status).toBe(503);
    expect((await service.recordedOf(id))!.at(-1)!.event.type).toBe('OrderDeleted');
    await expectRefusals();
  });
  await until(async () => (await service.recordedOf(id)) === null);
  await expectRefusals();
});

test('a repeat in another instance gets the same order, and writes the row if PostgreSQL lost it', async () => {
  const { id, call, send } = keyed('a');
  const first = await send();
  await service.pool.query('delete from orders.orders where id = $1', [id]);
  const again = await service.other.create(call, { ...CONTEXT, requestId: newRequestId() });
  expect(again).toMatchObject({ isRepeat: true, order: { orderId: id } });
  expect((await service.rowOf(id)).resource).toEqual(first.body);
});

test('a refused create is decided anew', async () => {
  const { send } = keyed('a');
  service.setRatesAvailable(false);
  expect((await send()).status).toBe(503);
  service.setRatesAvailable(true);
  expect((await send()).headers['idempotency-replayed']).toBeUndefined();
});

test('an order whose networks nobody reads is refused with the reason, and an earlier one is still shown', async () => {
  const earlier = keyed('a');
  const first = await earlier.send();
  const message = 'enable_rails: crypto_deposit cannot take USDC now: base is unavailable, because its reading halted';
  service.stub.setRefusal(new AppError('network_unavailable', message));
  const refused = keyed('b');
  expect(await refused.send()).toMatchObject({ status: 400, body: { code: 'network_unavailable', message } });
  expect(await service.recordedOf(refused.id)).toEqual([]);
  expect((await earlier.send()).body).toEqual(first.body);
  service.stub.setRefusal(null);
  expect((await refused.send()).status).toBe(201);
});

// Last, because it advances the clock of all orders.
test('a key can be used again after 24 hours, and then stands for the new order', async () => {
  const { id, call, send } = keyed('a');
  const remembered = keyed('a');
  await remembered.send();
  await service.call('DELETE', `/orders/${remembered.id}`, { merchant_id: MERCHANT });
  const ids = [(await send()).body.id];
  for (const hash of ['b', 'a', 'c']) {
    service.advanceClock(DAY_MS);
    const next = await send({ request_hash: hash });
    expect(next.headers['idempotency-replayed']).toBeUndefined();
    expect(next.headers.location).toBe(`/orders/${next.body.id}`);
    expect((await send({ request_hash: hash })).body).toEqual(next.body);
    expect(await send({ request_hash: 'other' })).toMatchObject(refusal(422, 'idempotency_key_reused'));
    ids.push(next.body.id);
  }
  expect(new Set(ids).size).toBe(4);
  expect(ids[0]).toBe(id);
  expect((await remembered.send()).status).toBe(201);
  expect(call.order_id).toBe(id);
});
