import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { makeApiKey } from '../keys/api-key.ts';
import type { Caller } from '../request.ts';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { limitConcurrentReads, type ConcurrentReadOptions } from './read-concurrency.ts';

/** A connection that locks the read model of orders until it rolls back. */
const lockOrders = async ({ pool }: TestGateway) => {
  const locker = await pool.connect();
  await locker.query('set idle_in_transaction_session_timeout = 0');
  await locker.query('begin; lock table orders.orders in access exclusive mode');
  return locker;
};

/** How many statements of other sessions wait for the lock. */
const waitingFor = async (locker: Awaited<ReturnType<typeof lockOrders>>): Promise<number> => {
  await locker.query('select pg_stat_clear_snapshot()'); // a transaction keeps its first answer
  const { rows } = await locker.query(`select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`);
  return rows.length;
};

test('many concurrent reads of one merchant do not block other merchants', async () => {
  const gateway = await startGateway();
  const [busy, other] = [await gateway.merchant(), await gateway.merchant()];
  const locker = await lockOrders(gateway);
  const pages = Array.from({ length: 40 }, () => busy.send('GET', '/v1/orders?limit=100'));
  while ((await waitingFor(locker)) < 4) await sleep(10);
  expect(await other.send('GET', '/v1/webhooks')).toMatchObject({ status: 200 });
  expect(await waitingFor(locker)).toBe(4);
  await locker.query('rollback');
  locker.release();
  await Promise.all(pages);
  await gateway.close();
});

test('reads that time out while they wait free their places', async () => {
  const gateway = await startGateway({ answerWithinMs: 500 });
  const { send } = await gateway.merchant();
  const locker = await lockOrders(gateway);
  const pages = await Promise.all(Array.from({ length: 40 }, () => send('GET', '/v1/orders')));
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([503]));
  await locker.query('rollback');
  locker.release();
  while ((await send('GET', '/v1/orders')).status !== 200) await sleep(10);
  await gateway.close();
});

test('slow lists of three merchants leave connections to other requests, and end on the server', async () => {
  const gateway = await startGateway({ statementTimeoutMs: 2_000 });
  const other = await gateway.merchant();
  const busy = await Promise.all([1, 2, 3].map(() => gateway.merchant()));
  const locker = await lockOrders(gateway);
  const lists = busy.flatMap((merchant) => Array.from({ length: 4 }, () => merchant.send('GET', '/v1/orders')));
  // One connection has the lock.
  while (gateway.pool.totalCount - gateway.pool.idleCount < 6) await sleep(10);
  const unknownKey = await busy[0]!.send('GET', '/v1/orders', undefined, { 'x-api-key': makeApiKey('sandbox').text });
  expect(unknownKey.status).toBe(401);
  expect((await other.send('GET', '/v1/webhooks')).status).toBe(200);
  expect((await other.send('POST', '/v1/webhooks', { url: 'https://a.example', events: ['order:paid'] })).status).toBe(
    201,
  );
  expect(gateway.pool.waitingCount).toBe(0);
  expect(gateway.pool.totalCount - gateway.pool.idleCount).toBeLessThanOrEqual(6);
  expect(new Set((await Promise.all(lists)).map(({ status }) => status))).toEqual(new Set([503]));
  const { rows } = await locker.query(`select pid from pg_stat_activity
    where datname = current_database() and state = 'active' and pid <> pg_backend_pid()`);
  expect(rows).toEqual([]);
  await locker.query('rollback');
  locker.release();
  await gateway.close();
});

test('reads of a client that disconnects count until their queries end', async () => {
  const gateway = await startGateway();
  const [{ key }, other] = [await gateway.merchant(), await gateway.merchant()];
  const base = await gateway.app.listen({ port: 0, host: '127.0.0.1' });
  const locker = await lockOrders(gateway);
  const requestUntil = (signal: AbortSignal) =>
    fetch(`${base}/v1/orders`, { headers: { 'x-api-key': key }, signal }).catch(() => {});
  let requests = 0;
  gateway.app.server.on('request', () => (requests += 1));
  const leaving = new AbortController();
  const first = [1, 2, 3, 4].map(() => requestUntil(leaving.signal));
  while ((await waitingFor(locker)) < 4) await sleep(10);
  leaving.abort();
  await Promise.all(first);
  for (let wave = 2; wave <= 3; wave++) {
    const leavingToo = new AbortController();
    const further = [1, 2, 3, 4].map(() => requestUntil(leavingToo.signal));
    while (requests < 4 * wave) await sleep(10);
    // Its answer comes after those before it have passed the same steps.
    expect(await other.send('GET', '/v1/webhooks')).toMatchObject({ status: 200 });
    leavingToo.abort();
    await Promise.all(further);
  }
  expect(await waitingFor(locker)).toBe(4);
  await locker.query('rollback');
  locker.release();
  const { status } = await fetch(`${base}/v1/orders`, { headers: { 'x-api-key': key } });
  expect(status).toBe(200);
  await gateway.close();
});

/** A server that responds with the requested number of bytes. A header names the merchant. */
const startServer = async (options: ConcurrentReadOptions) => {
  const app = Fastify({ forceCloseConnections: true });
  /** The merchants of the requests that arrived, and of those that began to be answered. */
  const seen = { arrived: [] as unknown[], begun: [] as unknown[] };
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request) => {
    const merchantId = request.headers['x-merchant'];
    seen.arrived.push(merchantId);
    request.caller = { merchantId } as unknown as Caller;
  });
  limitConcurrentReads(app, options);
  app.get<{ Params: { bytes: string } }>('/:bytes', (request) => {
    seen.begun.push(request.headers['x-merchant']);
    return 'x'.repeat(Number(request.params.bytes));
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const get = (merchant: string, bytes: number) =>
    fetch(`http://127.0.0.1:${port}/${bytes}`, { headers: { 'x-merchant': merchant } });
  /** Sends a request and does not read the response. */
  const requestOnly = (merchant: string, bytes: number) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(`GET /${bytes} HTTP/1.1\r\nhost: localhost\r\nx-merchant: ${merchant}\r\n\r\n`);
    return socket;
  };
  return { app, seen, get, requestOnly };
};

const LARGER_THAN_SOCKET_BUFFERS = 64 * 1024 * 1024;

test('an unread response blocks further reads of its merchant until the client disconnects', async () => {
  const { app, seen, get, requestOnly } = await startServer({ maxPerMerchant: 1 });
  const stalled = requestOnly('a', LARGER_THAN_SOCKET_BUFFERS);
  while (seen.begun.length < 1) await sleep(10);
  const next = get('a', 1);
  while (seen.arrived.length < 2) await sleep(10);
  // A later request is answered, while the one before it still waits.
  expect((await get('b', 1)).status).toBe(200);
  expect(seen.begun).toEqual(['a', 'b']);
  stalled.destroy();
  expect((await next).status).toBe(200);
  await app.close();
});
