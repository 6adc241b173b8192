import { setTimeout as sleep } from 'node:timers/promises';
import type { AddressInfo } from 'node:net';
import { type AnyApp, createApp } from './http.ts';
import { createLogger } from './logger.ts';

let app: AnyApp;
let url: string;
let finish: () => void;
let finished: Promise<unknown> | undefined;
let answered: number[];

beforeEach(async () => {
  app = createApp({ log: createLogger({ name: 'test', level: 'silent' }), responseTimeoutMs: 50 });
  const held = new Promise<void>((done) => (finish = done));
  answered = [];
  finished = undefined;
  app.addHook('onResponse', async (_request, reply) => void answered.push(reply.statusCode));
  app.get('/never', () => new Promise(() => {}));
  app.post('/late', (_request, reply) => {
    finished = held.then(() => reply.code(201).header('location', '/late/1').send({ ok: true }));
    return finished;
  });
  app.post('/failing', () => (finished = held.then(() => Promise.reject(new Error('too late')))));
  app.get('/noted', { onRequest: () => (finished = held) }, async () => ({ ok: true }));
  app.get('/kept', { onSend: () => sleep(150) }, async () => ({ ok: true }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  finish();
  await app.close();
});

const post = (path: string) =>
  fetch(`${url}${path}`, { method: 'POST', body: '{"n":1}', headers: { 'content-type': 'application/json' } });

test.each([
  ['that waits for ever', () => fetch(`${url}/never`)],
  ['whose body has been read', () => post('/late')],
  ['that fails later', () => post('/failing')],
  ['that a hook keeps', () => fetch(`${url}/noted`)],
])('a request %s is 503 with Retry-After, and what comes of it goes nowhere', async (_, send) => {
  const answer = await send();
  expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('location')]).toEqual([503, '1', null]);
  expect(await answer.json()).toEqual({
    error: 'Service Unavailable',
    message: 'this takes longer than it may: try again',
    statusCode: 503,
    code: 'dependency_unavailable',
    request_id: expect.stringMatching(/^req_/),
  });
  finish();
  await finished?.catch(() => {});
  await sleep(1);
  expect(answered).toEqual([503]);
  expect((await fetch(`${url}/kept`)).status).toBe(200);
});

test('an answer that is on its way is given, however long a hook keeps it', async () => {
  const answer = await fetch(`${url}/kept`);
  expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
});

test('a request whose client has gone is left to end by itself', async () => {
  const gone = new AbortController();
  const asking = fetch(`${url}/late`, { method: 'POST', signal: gone.signal });
  while (finished === undefined) await sleep(5);
  gone.abort();
  await expect(asking).rejects.toThrow();
  await sleep(100);
  finish();
  await finished;
  expect((await fetch(`${url}/kept`)).status).toBe(200);
});
