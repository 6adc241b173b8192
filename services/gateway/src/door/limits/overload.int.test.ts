import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type ConcurrencyLimit, createConcurrencyLimit } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderBody, ordersResponse } from '../../testing/jest-resources.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

const LIMIT = 4;
const limitOf = () => createConcurrencyLimit({ initial: LIMIT, min: LIMIT, max: LIMIT });
const [CALLBACKS, KEYLESS] = [limitOf(), limitOf()];
const ROOMS: Record<string, ConcurrencyLimit> = {
  '/v1/providers/acme/payments': CALLBACKS,
  '/debug/register-payment': KEYLESS,
};

let gateway: TestGateway;
let busy: TestMerchant;
let other: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway({
    loadLimits: { create: limitOf(), normal: limitOf(), page: limitOf(), callback: CALLBACKS, keyless: KEYLESS },
  });
  await gateway.app.listen({ port: 0, host: '127.0.0.1' });
  [busy, other] = [await gateway.merchant(), await gateway.merchant()];
  // A key has a share of its own once it was verified.
  for (const shop of [busy, other]) await shop.send('GET', '/v1/merchants/me');
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.orders.calls.length = 0;
  gateway.orders.respond = ordersResponse;
});

const create = (shop: TestMerchant, key?: string) =>
  shop.send('POST', '/v1/orders', orderBody(), key === undefined ? {} : { 'idempotency-key': key });

/** Lets orders answer no create before `finish`. */
const holdOrders = () => {
  let finish = () => {};
  const finished = new Promise<void>((done) => {
    finish = done;
  });
  gateway.orders.respond = async (call) => {
    await finished;
    return ordersResponse(call);
  };
  return finish;
};

const holdCreates = async (shop: TestMerchant) => {
  const finish = holdOrders();
  const held = Array.from({ length: LIMIT }, () => create(shop));
  while (gateway.orders.calls.length < LIMIT) await new Promise(setImmediate);
  return async () => {
    finish();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(LIMIT).fill(201));
  };
};

test('a full gateway refuses creates, and answers health, reads and other commands', async () => {
  const finish = await holdCreates(busy);
  const refused = await create(busy, 'k1');
  expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded', request_id: expect.any(String) } });
  expect(refused.headers).toMatchObject({ 'retry-after': '1', 'x-request-id': refused.body.request_id });
  const answers = await Promise.all([
    gateway.app.inject('/health'),
    gateway.app.inject('/health/ready'),
    gateway.app.inject({ url: '/v1/orders', headers: { 'x-api-key': busy.key } }),
  ]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
  expect(gateway.orders.calls).toHaveLength(LIMIT);
  await finish();
});

test('a merchant that fills the gateway leaves the others their share', async () => {
  const finish = await holdCreates(busy);
  const theirs = create(other);
  while (gateway.orders.calls.length < LIMIT + 1) await new Promise(setImmediate);
  expect((await create(busy)).status).toBe(503);
  await finish();
  expect((await theirs).status).toBe(201);
});

test('requests without a verified key have a room of their own, each network a share of it', async () => {
  const finish = await holdCreates(busy);
  const from = (address: string, count: number) =>
    Array.from({ length: count }, (_, n) =>
      gateway.app.inject({
        method: 'POST',
        url: '/v1/orders',
        headers: { 'x-api-key': `stranger-${n}`, 'x-forwarded-for': address },
      }),
    );
  const answers = await Promise.all([...from('192.0.2.1', 2 * LIMIT), ...from('192.0.2.2', 1)]);
  const statuses = answers.map(({ statusCode }) => statusCode);
  expect(statuses.slice(0, -1).filter((status) => status === 401)).toHaveLength(LIMIT);
  expect(statuses.slice(0, -1).filter((status) => status === 503)).toHaveLength(LIMIT);
  expect(statuses.at(-1)).toBe(401);
  await finish();
});

/** Half-sent requests without a key from one network, as many as its room takes and more. */
const sendHalf = async (path: string, count: number) => {
  const { port } = gateway.app.server.address() as AddressInfo;
  const sockets = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      socket.on('error', () => {});
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{`,
      );
      return socket;
    }),
  );
  while (ROOMS[path]!.inProgress() < LIMIT) await new Promise(setImmediate);
  return () => {
    for (const socket of sockets) socket.destroy();
  };
};

test.each(['/debug/register-payment', '/v1/providers/acme/payments'])(
  'half-sent bodies to %s take no room of merchants, payment pages or the other',
  async (path) => {
    const end = await sendHalf(path, 3 * LIMIT);
    const ofOthers: [string, string, string][] = [
      ['POST', '/debug/register-payment', '198.51.100.7'],
      ['POST', '/v1/providers/acme/payments', '198.51.100.7'],
      ['GET', '/pay/none', '127.0.0.1'],
      ['GET', '/v1/orders', '127.0.0.1'],
    ];
    for (const [method, url, address] of ofOthers) {
      const { statusCode } = await gateway.app.inject({
        method: method as 'GET',
        url,
        headers: { 'x-forwarded-for': address, ...(url === '/v1/orders' && { 'x-api-key': busy.key }) },
        ...(method === 'POST' && { payload: {} }),
      });
      expect([url, statusCode]).not.toEqual([url, 503]);
    }
    expect((await create(busy)).status).toBe(201);
    end();
  },
);

test('a refused request does not hold its Idempotency-Key, whichever service refused it', async () => {
  const finish = await holdCreates(busy);
  expect((await create(busy, 'k2')).status).toBe(503);
  await finish();
  gateway.orders.respond = () => errorResponse(503, 'overloaded');
  const refused = await create(busy, 'k2');
  expect(refused).toMatchObject({ status: 503, body: { code: 'overloaded' } });
  expect(refused.headers['retry-after']).toBe('1');
  gateway.orders.respond = ordersResponse;
  expect((await create(busy, 'k2')).status).toBe(201);
});

test('a call to orders carries the time that is left for the response', async () => {
  await create(busy);
  const waitsMs = Number(gateway.orders.calls[0]!.headers['x-deadline-ms']);
  expect(waitsMs).toBeGreaterThan(0);
  expect(waitsMs).toBeLessThanOrEqual(10_000);
});
