import { request } from 'node:http';
import { INTERNAL_HEADERS } from '@cpg/contracts';
import { z } from 'zod';
import { type CallContext, readCallContext, requireCaller } from './callers.ts';
import { createApp } from './app.ts';
import { internalClient } from './internal-client.ts';
import { createLogger } from '../log/logger.ts';
import { refuseAfterDeadline } from './time-limits.ts';

const log = createLogger({ name: 'deadline-test', level: 'silent' });
const TOKEN = 'a token';
const authorization = `Bearer ${TOKEN}`;
const config = { config: { callers: ['gateway'] } } as const;
const CONTEXT: CallContext = { actor: 'service:test', requestId: 'req_1', correlationId: 'req_1' };

/** A service that records the contexts of its calls, and a client for it. */
const startService = async () => {
  const app = createApp({ log });
  const contexts: CallContext[] = [];
  requireCaller(app, { gateway: [TOKEN] });
  app.post('/orders', config, async (request) => void contexts.push(readCallContext(request)));
  const url = await app.listen({ port: 0 });
  const client = internalClient({ name: 'orders', url, tokens: [TOKEN] });
  const call = (deadlineMs?: number) =>
    client.call('POST', '/orders', {
      context: { ...CONTEXT, ...(deadlineMs !== undefined && { deadlineMs }) },
      response: z.any(),
      body: {},
    });
  return {
    app,
    call,
    contexts,
    close: async () => {
      await client.close();
      await app.close();
    },
  };
};

test('an internal call carries the time that is left of its deadline, or its own timeout', async () => {
  const service = await startService();
  const nowMs = performance.now();
  await service.call(nowMs + 5_000);
  await service.call();
  const [short, long] = service.contexts.map(({ deadlineMs }) => deadlineMs! - nowMs);
  expect(short).toBeGreaterThan(1_000);
  expect(short).toBeLessThan(performance.now() - nowMs + 5_000);
  expect(long).toBeGreaterThan(9_000);
  expect(long).toBeLessThan(performance.now() - nowMs + 10_000);
  await service.close();
});

test('a call after its deadline is not sent', async () => {
  const service = await startService();
  await expect(service.call(performance.now())).rejects.toMatchObject({ code: 'overloaded' });
  expect(service.contexts).toEqual([]);
  await service.close();
});

test('a request that arrives after its deadline starts nothing', async () => {
  const { app, contexts, close } = await startService();
  const headers = { authorization, [INTERNAL_HEADERS.deadline]: '0' };
  const late = await app.inject({ method: 'POST', url: '/orders', headers });
  expect(late.statusCode).toBe(503);
  expect(late.json()).toMatchObject({ code: 'overloaded' });
  expect(contexts).toEqual([]);
  const wrong = { authorization, [INTERNAL_HEADERS.deadline]: 'x' };
  const malformed = await app.inject({ method: 'POST', url: '/orders', headers: wrong });
  expect(malformed.statusCode).toBe(200);
  await close();
});

test('the deadline of a stranger does not count', async () => {
  const app = createApp({ log });
  let deadlineMs = 0;
  app.get('/public', async (received) => void (deadlineMs = received.deadlineMs));
  const nowMs = performance.now();
  const headers = { authorization, [INTERNAL_HEADERS.deadline]: '0' };
  expect((await app.inject({ url: '/public', headers })).statusCode).toBe(200);
  expect(deadlineMs - nowMs).toBeGreaterThanOrEqual(12_000);
  await app.close();
});

test('the deadline ends when the caller closes the connection', async () => {
  const app = createApp({ log, responseTimeoutMs: 500 });
  requireCaller(app, { gateway: [TOKEN] });
  let context: CallContext | undefined;
  const closed = new Promise<void>((done) =>
    app.post('/orders', config, async (received, reply) => {
      context = readCallContext(received);
      refuseAfterDeadline(context);
      reply.raw.once('close', () => done());
      calling.destroy();
      await closed;
    }),
  );
  const { port } = new URL(await app.listen({ port: 0 }));
  const calling = request({ port, method: 'POST', path: '/orders', headers: { authorization } })
    .on('error', () => {})
    .end();
  await closed;
  expect(context!.deadlineMs).toBe(-Infinity);
  expect(() => refuseAfterDeadline(context!)).toThrow(expect.objectContaining({ code: 'overloaded' }));
  await app.close();
});

test('work in the background has no deadline', () => {
  expect(() => refuseAfterDeadline(CONTEXT)).not.toThrow();
});
