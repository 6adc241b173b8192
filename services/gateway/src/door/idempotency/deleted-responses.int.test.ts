import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { newUlid } from '@cpg/platform';
import { completeCrashedDeletions } from './deleted-resources.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import {
  orderBody,
  orderOf,
  ordersResponse,
  paymentOf,
  projectOrder,
  projectPayment,
} from '../../testing/jest-resources.ts';
import { errorResponse, type StubCall } from '../../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;
let order: string;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  gateway.orders.respond = respondAndProject;
  order = (await post('/v1/orders', 'create', orderBody())).body.id;
  gateway.orders.calls.length = 0;
});

/** Deletes the order from the read model, as the orders service does before it answers. */
const respondAndProject = async (call: StubCall) => {
  const response = ordersResponse(call);
  const { id } = response.body as { id: string };
  if (call.method === 'DELETE')
    await gateway.pool.query('update orders.orders set deleted = true, resource = null where id = $1', [id]);
  else if (response.status === 201) await projectOrder(gateway.pool, orderOf(id, shop.id));
  return response;
};
const post = (path: string, key: string, body?: unknown) => shop.send('POST', path, body, { 'idempotency-key': key });
const remove = () => shop.send('DELETE', `/v1/orders/${order}`);
const cancel = () => post(`/v1/orders/${order}/cancel`, 'cancel');
const stored = async () => {
  const { rows } = await gateway.pool.query<{ key: string; answer: string | null }>(
    'select key, answer from gateway.idempotency_keys where merchant_id = $1 order by key',
    [shop.id],
  );
  return rows;
};
const ORDER_DELETED = { status: 410, body: { code: 'order_deleted', statusCode: 410 } };

test('a repeat of a request whose order was deleted is 410, and its response leaves the database', async () => {
  const payment = `pay_${newUlid()}`;
  await projectPayment(gateway.pool, paymentOf(payment, shop.id, { order_id: order }));
  gateway.payments.respond = () => ({
    status: 200,
    body: { payment: paymentOf(payment, shop.id, { order_id: order }), order: orderOf(order, shop.id) },
  });
  const requests = [
    () => post(`/v1/orders/${order}/cancel`, 'cancel'),
    () => post(`/v1/orders/${order}/capture`, 'capture'),
    () => post(`/v1/payments/${payment}/refund`, 'refund'),
  ];
  for (const request of requests) expect((await request()).status).toBe(201);
  expect((await remove()).status).toBe(200);
  gateway.orders.calls.length = 0;
  for (const request of requests) expect(await request()).toMatchObject(ORDER_DELETED);
  expect(gateway.orders.calls).toEqual([]);
  expect(await stored()).toEqual(['cancel', 'capture', 'refund'].map((key) => ({ key, answer: null })));
});

test('another request with the key of a deleted order is 422', async () => {
  expect((await cancel()).status).toBe(201);
  await remove();
  expect((await post(`/v1/orders/${order}/capture`, 'cancel')).status).toBe(422);
});

test('a response that is being stored while its order is deleted is not kept', async () => {
  let finish = () => {};
  const finishing = new Promise<void>((done) => (finish = done));
  let started = () => {};
  const running = new Promise<void>((done) => (started = done));
  gateway.orders.respond = async (call) => {
    if (!call.path.endsWith('/cancel')) return respondAndProject(call);
    started();
    await finishing;
    return ordersResponse(call);
  };
  const canceling = post(`/v1/orders/${order}/cancel`, 'cancel');
  await running;
  await remove();
  finish();
  expect((await canceling).status).toBe(201);
  expect((await stored()).map(({ answer }) => answer)).toEqual([null]);
  expect(await post(`/v1/orders/${order}/cancel`, 'cancel')).toMatchObject(ORDER_DELETED);
});

test('a gateway that crashed while it deleted an order reveals nothing, and the cleanup completes its work', async () => {
  expect((await cancel()).status).toBe(201);
  gateway.orders.respond = async (call) => {
    await respondAndProject(call);
    return errorResponse(503, 'dependency_unavailable');
  };
  expect((await remove()).status).toBe(503);
  expect(await cancel()).toMatchObject(ORDER_DELETED);
  expect((await stored())[0]!.answer).toMatch(order);
  expect(await completeCrashedDeletions(gateway.pool, new Date())).toBe(1);
  expect(await stored()).toEqual([{ key: 'cancel', answer: null }]);
  expect(await completeCrashedDeletions(gateway.pool, new Date())).toBe(0);
});

test('a repeat of a create does not create a deleted order again', async () => {
  gateway.orders.respond = () => errorResponse(404, 'not_found');
  expect(await post('/v1/orders', 'create', orderBody())).toMatchObject(ORDER_DELETED);
  expect(gateway.orders.calls).toMatchObject([{ body: { order_id: order } }]);
});

test('a refused deletion leaves the stored responses as they are', async () => {
  expect((await cancel()).status).toBe(201);
  gateway.orders.respond = () => errorResponse(409, 'order_has_unsettled_funds');
  expect((await remove()).status).toBe(409);
  expect(await cancel()).toMatchObject({ status: 201, body: { id: order } });
  expect(await completeCrashedDeletions(gateway.pool, new Date())).toBe(0);
});

test('a merchant does not learn from a repeat that an order of another merchant was deleted', async () => {
  const other = await gateway.merchant();
  const cancel = () => other.send('POST', `/v1/orders/${order}/cancel`, undefined, { 'idempotency-key': 'probe' });
  gateway.orders.respond = () => errorResponse(404, 'not_found');
  expect((await cancel()).status).toBe(404);
  gateway.orders.respond = respondAndProject;
  await remove();
  expect((await cancel()).status).toBe(404);
});

describe('a repeat of a deletion', () => {
  const deleted = () => ({ status: 200, body: { id: order, deleted: true } });
  const isGone = () => {
    gateway.orders.respond = () => errorResponse(404, 'not_found');
  };

  test('is 200 if the first request was answered 503, and 404 from then on', async () => {
    gateway.orders.respond = async (call) => {
      await respondAndProject(call);
      return errorResponse(503, 'outcome_unknown');
    };
    expect((await remove()).status).toBe(503);
    isGone();
    await completeCrashedDeletions(gateway.pool, new Date());
    expect((await (await gateway.merchant()).send('DELETE', `/v1/orders/${order}`)).status).toBe(404);
    expect((await shop.send('GET', `/v1/orders/${order}`)).status).toBe(404);
    expect(await remove()).toMatchObject(deleted());
    expect((await remove()).status).toBe(404);
  });

  test('is 200 if the client closed the connection before the answer', async () => {
    let answer = () => {};
    const answering = new Promise<void>((done) => (answer = done));
    let receive = () => {};
    const received = new Promise<void>((done) => (receive = done));
    gateway.orders.respond = async (call) => {
      receive();
      await answering;
      return respondAndProject(call);
    };
    const url = await gateway.app.listen({ port: 0, host: '127.0.0.1' });
    const client = request(`${url}/v1/orders/${order}`, { method: 'DELETE', headers: { 'x-api-key': shop.key } });
    client.on('error', () => {});
    client.end();
    await received;
    client.destroy();
    const connections = () =>
      new Promise<number>((done) => gateway.app.server.getConnections((_, count) => done(count)));
    while ((await connections()) > 0) await sleep(5);
    answer();
    const isCompleted = async () =>
      (await gateway.pool.query('select from gateway.order_deletions where order_id = $1 and completed', [order]))
        .rowCount === 1;
    while (!(await isCompleted())) await sleep(5);
    isGone();
    expect(await remove()).toMatchObject(deleted());
  });

  test('is 404 if the first request was answered', async () => {
    expect(await remove()).toMatchObject(deleted());
    isGone();
    expect((await remove()).status).toBe(404);
  });
});

describe('webhooks', () => {
  const WEBHOOK = { url: 'https://shop.example/hooks', events: ['order:paid'] };
  const WEBHOOK_DELETED = { status: 410, body: { code: 'webhook_deleted' } };
  const create = () => post('/v1/webhooks', 'hook', WEBHOOK);
  const rowOf = async (id: string) =>
    (await gateway.pool.query('select * from gateway.webhooks where id = $1', [id])).rows[0];

  test('a repeat does not bring back the secret of a deleted webhook, and no secret is kept', async () => {
    const { id } = (await create()).body;
    const rotate = () => post(`/v1/webhooks/${id}/rotate-secret`, 'rotate');
    expect((await rotate()).status).toBe(201);
    await shop.send('DELETE', `/v1/webhooks/${id}`);
    expect(await create()).toMatchObject(WEBHOOK_DELETED);
    expect(await rotate()).toMatchObject(WEBHOOK_DELETED);
    expect((await stored()).filter(({ key }) => key !== 'create')).toEqual([
      { key: 'hook', answer: null },
      { key: 'rotate', answer: null },
    ]);
    expect(await rowOf(id)).toMatchObject({ secret_box: '', previous_secret_box: null });
  });

  test('a repeat of a deletion is 200 if the gateway crashed before it answered the first one', async () => {
    const { id } = (await create()).body;
    const remove = () => shop.send('DELETE', `/v1/webhooks/${id}`);
    expect((await remove()).status).toBe(200);
    const { deleted_at: deletedAt } = await rowOf(id);
    await gateway.pool.query('update gateway.webhooks set deletion_answered = false where id = $1', [id]);
    expect(await remove()).toMatchObject({ status: 200, body: { id, deleted: true } });
    expect((await remove()).status).toBe(404);
    expect((await rowOf(id)).deleted_at).toEqual(deletedAt);
  });

  test('a repeat of a create whose response was lost does not show a deleted webhook', async () => {
    const { id } = (await create()).body;
    await shop.send('DELETE', `/v1/webhooks/${id}`);
    await gateway.pool.query(
      `update gateway.idempotency_keys set status = null, leased_until = now() where merchant_id = $1 and key = 'hook'`,
      [shop.id],
    );
    expect(await create()).toMatchObject(WEBHOOK_DELETED);
  });
});
