import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import { makeApiKey } from '../keys/api-key.ts';
import type { Caller } from '../keys/authenticator.ts';
import { startGateway, type TestGateway } from '../../testing/jest-gateway.ts';
import { limitConcurrentReads, type ConcurrentReadOptions } from './read-concurrency.ts';

/** A connection that locks the read model of orders until it rolls back. */
const lockOrders = async ({ pool }: TestGateway) => {
  const locker = await pool.connect();
  await locker.query('set idle_in_transaction_session_timeout = 0');
  await locker.query('begin; lock table orders.orders in access exclusive mode');
  return locker;
};

describe('in the gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ answerWithinMs: 2_000 });
  });
  afterAll(() => gateway.close());

  test('many concurrent reads of one merchant do not block other merchants', async () => {
    const [busy, other] = [await gateway.merchant(), await gateway.merchant()];
    const locker = await lockOrders(gateway);
    const pages = Array.from({ length: 40 }, () => busy.send('GET', '/v1/orders?limit=100'));
    await sleep(100);
    expect(await other.send('GET', '/v1/webhooks')).toMatchObject({ status: 200 });
    // Reads that time out while they wait free their place.
    expect(new Set((await Promise.all(pages)).map(({ status }) => status))).toEqual(new Set([503]));
    await locker.query('rollback');
    locker.release();
    expect(await busy.send('GET', '/v1/orders')).toMatchObject({ status: 200 });
  });
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
  const { key } = await gateway.merchant();
  const base = await gateway.app.listen({ port: 0, host: '127.0.0.1' });
  const locker = await lockOrders(gateway);
  const requestUntil = (signal: AbortSignal) =>
    fetch(`${base}/v1/orders`, { headers: { 'x-api-key': key }, signal }).catch(() => {});
  const waiting = async () => {
    await locker.query('select pg_stat_clear_snapshot()'); // a transaction keeps its first answer
    const { rows } = await locker.query(`select pid from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`);
    return rows.length;
  };
  const leaving = new AbortController();
  const first = [1, 2, 3, 4].map(() => requestUntil(leaving.signal));
  while ((await waiting()) < 4) await sleep(10);
  leaving.abort();
  await Promise.all(first);
  for (let wave = 0; wave < 2; wave++)
    await Promise.all([1, 2, 3, 4].map(() => requestUntil(AbortSignal.timeout(150))));
  expect(await waiting()).toBe(4);
  await locker.query('rollback');
  locker.release();
  const { status } = await fetch(`${base}/v1/orders`, { headers: { 'x-api-key': key } });
  expect(status).toBe(200);
  await gateway.close();
});

/** A server that responds with the requested number of bytes. A header names the merchant. */
const startServer = async (options: ConcurrentReadOptions) => {
  const app = Fastify({ forceCloseConnections: true });
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request) => {
    request.caller = { merchantId: request.headers['x-merchant'] } as unknown as Caller;
  });
  limitConcurrentReads(app, options);
  app.get<{ Params: { bytes: string } }>('/:bytes', (request) => 'x'.repeat(Number(request.params.bytes)));
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
  return { app, get, requestOnly };
};

const LARGER_THAN_SOCKET_BUFFERS = 64 * 1024 * 1024;

test('an unread response blocks further reads of its merchant until the client disconnects', async () => {
  const { app, get, requestOnly } = await startServer({ maxPerMerchant: 1 });
  const stalled = requestOnly('a', LARGER_THAN_SOCKET_BUFFERS);
  await sleep(200);
  let responded = false;
  const next = get('a', 1).then(({ status }) => {
    responded = true;
    return status;
  });
  expect((await get('b', 1)).status).toBe(200);
  await sleep(200);
  expect(responded).toBe(false);
  stalled.destroy();
  expect(await next).toBe(200);
  await app.close();
});
