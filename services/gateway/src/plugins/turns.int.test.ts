import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import type { Caller } from '../keys/authenticator.ts';
import { startGateway, type TestGateway } from '../testing/jest-gateway.ts';
import { takeTurns, type TurnsOptions } from './turns.ts';

describe('at the gateway', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ answerWithinMs: 2_000 });
  });
  afterAll(() => gateway.close());

  test('a merchant who asks for many pages at once leaves the database to the others', async () => {
    const [greedy, other] = [await gateway.merchant(), await gateway.merchant()];
    const held = await gateway.pool.connect();
    await held.query('begin');
    await held.query('lock table orders.orders in access exclusive mode');
    const pages = Array.from({ length: 40 }, () => greedy.send('GET', '/v1/orders?limit=100'));
    await sleep(100);
    expect(await other.send('GET', '/v1/webhooks')).toMatchObject({ status: 200 });
    // Those that waited too long were refused; their turns go to others.
    expect(new Set((await Promise.all(pages)).map(({ status }) => status))).toEqual(new Set([503]));
    await held.query('rollback');
    held.release();
    expect(await greedy.send('GET', '/v1/orders')).toMatchObject({ status: 200 });
  });
});

/** Answers with as many bytes as it is asked for, to whoever a header says is calling. */
const startPages = async (options: TurnsOptions) => {
  const app = Fastify({ forceCloseConnections: true });
  app.decorateRequest('caller', null);
  app.addHook('onRequest', async (request) => {
    request.caller = { merchantId: request.headers['x-merchant'] } as unknown as Caller;
  });
  takeTurns(app, options);
  app.get<{ Params: { bytes: string } }>('/:bytes', (request) => 'x'.repeat(Number(request.params.bytes)));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  const get = (merchant: string, bytes: number) =>
    fetch(`http://127.0.0.1:${port}/${bytes}`, { headers: { 'x-merchant': merchant } });
  /** Asks, and reads nothing of the answer. */
  const ask = (merchant: string, bytes: number) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(`GET /${bytes} HTTP/1.1\r\nhost: localhost\r\nx-merchant: ${merchant}\r\n\r\n`);
    return socket;
  };
  return { app, get, ask };
};

const MORE_THAN_A_SOCKET_HOLDS = 64 * 1024 * 1024;

test('whoever takes no answer has no further turn, until it hangs up', async () => {
  const { app, get, ask } = await startPages({ atOnce: 1 });
  const silent = ask('a', MORE_THAN_A_SOCKET_HOLDS);
  await sleep(200);
  let answered = false;
  const next = get('a', 1).then(({ status }) => {
    answered = true;
    return status;
  });
  expect((await get('b', 1)).status).toBe(200);
  await sleep(200);
  expect(answered).toBe(false);
  silent.destroy();
  expect(await next).toBe(200);
  await app.close();
});

test('whoever does not take its answer in time is hung up on', async () => {
  const { app, get, ask } = await startPages({ atOnce: 1, takenWithinMs: 300 });
  ask('a', MORE_THAN_A_SOCKET_HOLDS);
  await sleep(50);
  expect((await get('a', 1)).status).toBe(200);
  await app.close();
});
