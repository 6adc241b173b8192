import { Registry } from 'prom-client';
import { createLogger } from '../log/logger.ts';
import { createApp } from '../http/app.ts';
import { healthRoutes } from '../http/health.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { refuseOverload } from './refuse-overload.ts';

const log = createLogger({ name: 'load-test', level: 'silent' });

/** An app that admits one create at a time and whose creates wait for `finish`. */
const startApp = () => {
  const app = createApp({ log, responseTimeoutMs: 1_000 });
  const metrics = new Registry();
  const limit = createConcurrencyLimit({ initial: 1, min: 1 });
  refuseOverload(app, { limits: { create: limit }, ownerOf: ({ headers }) => String(headers.owner), log, metrics });
  healthRoutes(app, {});
  let finish = () => {};
  let started = 0;
  const finished = new Promise<void>((done) => {
    finish = done;
  });
  app.post('/orders', { config: { load: 'create' } }, async (_request, reply) => {
    started += 1;
    await finished;
    return reply.code(201).send({});
  });
  app.get('/orders', async () => ({ items: [] }));
  // `inject` sends nothing until it is awaited.
  const create = async (owner = 'shop') =>
    app.inject({ method: 'POST', url: '/orders', headers: { owner, 'content-type': 'application/json' }, body: '{}' });
  return { app, create, finish: () => finish(), metrics, started: () => started, limit };
};

test('a full service refuses creates at once, and answers reads and health', async () => {
  const { app, create, finish, started } = startApp();
  const first = create();
  const refused = await create();
  expect(refused.statusCode).toBe(503);
  expect(refused.headers['retry-after']).toBe('1');
  expect(refused.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(refused.json()).toMatchObject({
    code: 'overloaded',
    error: 'Service Unavailable',
    statusCode: 503,
    request_id: refused.headers['x-request-id'],
  });
  for (const url of ['/health', '/health/ready', '/orders']) expect((await app.inject(url)).statusCode).toBe(200);
  finish();
  expect((await first).statusCode).toBe(201);
  expect((await create()).statusCode).toBe(201);
  expect(started()).toBe(2);
  await app.close();
});

test('a request that is found invalid frees its place', async () => {
  const { app, create, finish, limit } = startApp();
  const invalid = () =>
    app.inject({ method: 'POST', url: '/orders', headers: { 'content-type': 'text/csv' }, body: 'a,b' });
  for (let n = 0; n < 5; n += 1) expect((await invalid()).statusCode).toBe(415);
  expect(limit.inProgress()).toBe(0);
  finish();
  expect((await create()).statusCode).toBe(201);
  await app.close();
});

test('a request without an answer in time frees its place', async () => {
  const { app, limit, create } = startApp();
  expect((await create()).json()).toMatchObject({ code: 'outcome_unknown' });
  expect(limit.inProgress()).toBe(0);
  await app.close();
});

test('counts what was refused, and shows the limit and the requests in progress', async () => {
  const { app, create, finish, metrics } = startApp();
  const first = create();
  await create();
  await create();
  const lines = await metrics.metrics();
  expect(lines).toContain('overload_refused_total{class="create"} 2');
  expect(lines).toContain('concurrency_limit{class="create"} 1');
  expect(lines).toContain('requests_in_progress{class="create"} 1');
  finish();
  await first;
  await app.close();
});
