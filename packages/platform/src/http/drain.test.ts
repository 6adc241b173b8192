import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import type { AnyApp } from './any-app.ts';
import { onDrain } from './drain.ts';
import { createApp } from './app.ts';
import { createLogger } from '../log/logger.ts';

let app: AnyApp;
let url: string;
let client: Agent;
let finishSlowRequest: () => void;
let slowRequestStarted: Promise<void>;

beforeEach(async () => {
  app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) });
  let onStart = () => {};
  slowRequestStarted = new Promise((resolve) => (onStart = resolve));
  const finished = new Promise<void>((resolve) => (finishSlowRequest = resolve));
  app.get('/quick', async () => ({ ok: true }));
  app.get('/endless', async (_request, reply) => {
    reply.hijack();
    onDrain(app, () => reply.raw.end('ended'));
    reply.raw.writeHead(200).flushHeaders();
  });
  app.get('/slow', async () => {
    onStart();
    await finished;
    return { ok: true };
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  client = new Agent({ connections: 1, pipelining: 1 });
});
afterEach(async () => {
  finishSlowRequest();
  await client.destroy();
  await app.close();
});

const get = async (path: string, dispatcher: Dispatcher = client) => {
  const response = await request(`${url}${path}`, { dispatcher });
  return { status: response.statusCode, connection: response.headers['connection'], body: await response.body.json() };
};
const isRefused = async () => {
  const newConnection = new Agent();
  try {
    return await get('/quick', newConnection).then(
      () => false,
      (error: { code?: string }) => error.code === 'ECONNREFUSED',
    );
  } finally {
    await newConnection.destroy();
  }
};

test('answers requests in flight and refuses new connections while closing', async () => {
  const slow = get('/slow');
  await slowRequestStarted;
  const closing = app.close();
  while (!(await isRefused()));
  finishSlowRequest();
  expect(await slow).toMatchObject({ status: 200, body: { ok: true } });
  await closing;
});

test('answers a request on a kept-alive connection with connection: close', async () => {
  expect(await get('/quick')).toMatchObject({ status: 200, connection: 'keep-alive' });
  const closing = app.close();
  while (!(await isRefused()));
  expect(await get('/quick')).toEqual({ status: 200, connection: 'close', body: { ok: true } });
  await closing;
});

test('closes despite an idle connection', async () => {
  await get('/quick');
  await app.close();
  expect(await isRefused()).toBe(true);
});

test('ends responses that would not end by themselves', async () => {
  const { statusCode, body } = await request(`${url}/endless`, { dispatcher: client });
  const closing = app.close();
  expect([statusCode, await body.text()]).toEqual([200, 'ended']);
  await closing;
});
