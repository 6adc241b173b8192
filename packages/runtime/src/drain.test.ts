import type { AddressInfo } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import { type AnyApp, createApp } from './http.ts';
import { createLogger } from './logger.ts';

let app: AnyApp;
let url: string;
let client: Agent;
let finish: () => void;
let begun: Promise<void>;

beforeEach(async () => {
  app = createApp({ log: createLogger({ name: 'test', level: 'silent' }) });
  let began = () => {};
  begun = new Promise((done) => (began = done));
  const held = new Promise<void>((done) => (finish = done));
  app.get('/quick', async () => ({ ok: true }));
  app.get('/slow', async () => {
    began();
    await held;
    return { ok: true };
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  client = new Agent({ connections: 1, pipelining: 1 });
});
afterEach(async () => {
  finish();
  await client.destroy();
  await app.close();
});

const get = async (path: string, dispatcher: Dispatcher = client) => {
  const answer = await request(`${url}${path}`, { dispatcher });
  return { status: answer.statusCode, connection: answer.headers['connection'], body: await answer.body.json() };
};
const refused = async () => {
  const other = new Agent();
  try {
    return await get('/quick', other).then(
      () => false,
      (error: { code?: string }) => error.code === 'ECONNREFUSED',
    );
  } finally {
    await other.destroy();
  }
};

test('what runs is answered, and new connections are refused meanwhile', async () => {
  const slow = get('/slow');
  await begun;
  const closing = app.close();
  while (!(await refused()));
  finish();
  expect(await slow).toMatchObject({ status: 200, body: { ok: true } });
  await closing;
});

test('a request over a connection kept alive is answered, and told that it was the last', async () => {
  expect(await get('/quick')).toMatchObject({ status: 200, connection: 'keep-alive' });
  const closing = app.close();
  while (!(await refused()));
  expect(await get('/quick')).toEqual({ status: 200, connection: 'close', body: { ok: true } });
  await closing;
});

test('a connection that nobody uses does not keep it from closing', async () => {
  await get('/quick');
  await app.close();
  expect(await refused()).toBe(true);
});
