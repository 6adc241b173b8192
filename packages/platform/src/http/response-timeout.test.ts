import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { AddressInfo } from 'node:net';
import type { AnyApp } from './any-app.ts';
import { createApp } from './app.ts';
import { createLogger } from '../log/logger.ts';

let app: AnyApp;
let url: string;
let finishHandlers: () => void;
let handlerResult: Promise<unknown> | undefined;
let onResponseStatuses: number[];
let errorCodes: (string | null)[];

beforeEach(async () => {
  app = createApp({ log: createLogger({ name: 'test', level: 'silent' }), responseTimeoutMs: 50 });
  const mayFinish = new Promise<void>((resolve) => (finishHandlers = resolve));
  onResponseStatuses = [];
  errorCodes = [];
  handlerResult = undefined;
  app.addHook('onResponse', async ({ errorCode }, reply) => {
    onResponseStatuses.push(reply.statusCode);
    errorCodes.push(errorCode);
  });
  app.get('/never', () => new Promise(() => {}));
  app.post('/late', (_request, reply) => {
    handlerResult = mayFinish.then(() => reply.code(201).header('location', '/late/1').send({ ok: true }));
    return handlerResult;
  });
  app.post('/failing', () => (handlerResult = mayFinish.then(() => Promise.reject(new Error('too late')))));
  app.get('/slow-hook', { onRequest: () => (handlerResult = mayFinish) }, async () => ({ ok: true }));
  app.get('/stream', async (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200).write('first, ');
    await sleep(100);
    reply.raw.end('last');
  });
  app.get('/slow-on-send', { onSend: () => sleep(150) }, async () => ({ ok: true }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  finishHandlers();
  // An idle connection of the client would keep it open for a second.
  app.server.closeAllConnections();
  await app.close();
});

const post = (path: string) =>
  fetch(`${url}${path}`, { method: 'POST', body: '{"n":1}', headers: { 'content-type': 'application/json' } });

/** Repeats a request that the server had no time to begin. */
const begun = async (send: () => Promise<Response>) => {
  for (;;) {
    onResponseStatuses = [];
    errorCodes = [];
    const answer = await send();
    const body = (await answer.json()) as { code: string };
    if (body.code !== 'overloaded') return { answer, body };
  }
};

const OUTCOME_UNKNOWN = expect.stringContaining('may have taken effect');

test.each([
  ['whose handler never ends', () => fetch(`${url}/never`), 'dependency_unavailable'],
  ['whose body was read', () => post('/late'), 'outcome_unknown'],
  ['whose handler fails later', () => post('/failing'), 'outcome_unknown'],
  ['that waits in a hook', () => fetch(`${url}/slow-hook`), 'dependency_unavailable'],
])('a request %s is answered with 503 and Retry-After, and a later result is discarded', async (_, send, code) => {
  const { answer, body } = await begun(send);
  expect([answer.status, answer.headers.get('retry-after'), answer.headers.get('location')]).toEqual([503, '1', null]);
  expect(body).toEqual({
    error: 'Service Unavailable',
    message: code === 'outcome_unknown' ? OUTCOME_UNKNOWN : 'the request timed out: retry it',
    statusCode: 503,
    code,
    request_id: expect.stringMatching(/^req_/),
  });
  finishHandlers();
  await handlerResult?.catch(() => {});
  // The later result would be the first to end.
  expect((await fetch(`${url}/slow-on-send`)).status).toBe(200);
  while (!onResponseStatuses.includes(200)) await sleep(5);
  expect(onResponseStatuses).toEqual([503, 200]);
  expect(errorCodes).toEqual([code, null]);
});

test('does not interrupt a response that waits in an onSend hook', async () => {
  const answer = await fetch(`${url}/slow-on-send`);
  expect([answer.status, await answer.json()]).toEqual([200, { ok: true }]);
});

test('does not interrupt a response that has begun', async () => {
  expect(await (await fetch(`${url}/stream`)).text()).toBe('first, last');
});

test('sends nothing when the client has disconnected', async () => {
  const client = new AbortController();
  const request = fetch(`${url}/late`, { method: 'POST', signal: client.signal });
  while (handlerResult === undefined) await sleep(5);
  client.abort();
  await expect(request).rejects.toThrow();
  const openConnections = promisify(app.server.getConnections.bind(app.server));
  while ((await openConnections()) > 0) await sleep(5);
  finishHandlers();
  await handlerResult;
  expect((await fetch(`${url}/slow-on-send`)).status).toBe(200);
});
