import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp, createConcurrencyLimit, createLogger, refuseOverload } from '@cpg/platform';
import type { FastifyInstance } from 'fastify';
import { compressResponses } from '../../door/responses/compression.ts';
import { addSecurityHeaders } from '../../door/responses/headers.ts';
import { closeUnreadConnections } from '../../door/responses/unread-responses.ts';
import { createEventStreams } from './event-streams.ts';
import { liveRoutes } from './live-routes.ts';
import { followOpenPages, type PageState } from './open-pages.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const TIME_LIMIT_MS = 400;

/** An app with all hooks of the gateway that end, delay or change responses, and one order. */
const start = async ({ max = 10, maxPerAddress = 10, timeLimitMs = 20_000 } = {}) => {
  const limit = createConcurrencyLimit({ initial: 1, min: 1, max: 1 });
  let page: PageState | null = { orderId: 'ord_1', revision: 1, version: 'first', waitsForBlocks: false };
  const app = createApp({
    log,
    trustProxy: true,
    responseTimeoutMs: timeLimitMs,
  }) as unknown as FastifyInstance;
  refuseOverload(app, { limits: { normal: limit }, ownerOf: () => '', log });
  closeUnreadConnections(app, { withinMs: timeLimitMs });
  addSecurityHeaders(app);
  await compressResponses(app);
  const streams = createEventStreams({ max, maxPerAddress, now: () => new Date(0) });
  const openPages = followOpenPages({
    load: async (reference) => {
      if (reference === 'broken') throw new Error('a fault');
      return reference === 'known' ? page : null;
    },
    changedOrders: async (known) =>
      new Map([...known].filter(([, revision]) => revision !== page?.revision).map(([id]) => [id, null])),
    chainHeights: async () => '',
    log,
    everyMs: 10,
  });
  await app.register(liveRoutes, { streams, openPages });
  app.get('/normal', async () => ({ ok: true }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return { app, url, streams, limit, change: (to: PageState | null) => void (page = to) };
};

const open = async (url: string, address = '192.0.2.1', reference = 'known') => {
  const headers = { 'x-forwarded-for': address, 'accept-encoding': 'br, gzip', accept: 'text/event-stream' };
  const request = get(`${url}/pay/${reference}/events`, { headers, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.on('data', (chunk: Buffer) => (text += chunk.toString()));
  response.on('error', () => {});
  return {
    response,
    text: () => text,
    until: async (part: string) => {
      while (!text.includes(part)) await sleep(5);
    },
  };
};

let live: Awaited<ReturnType<typeof start>>;
afterEach(async () => live.app.close());

test('a stream outlives every time limit, uncompressed, and takes no place of other requests', async () => {
  live = await start({ timeLimitMs: TIME_LIMIT_MS });
  const { response, until } = await open(live.url);
  expect(response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    'x-content-type-options': 'nosniff',
  });
  expect(response.headers['content-encoding']).toBeUndefined();
  expect(live.limit.inProgress()).toBe(0);
  await until('event: changed\ndata: first\n\n');
  await sleep(1.5 * TIME_LIMIT_MS);
  live.change({ orderId: 'ord_1', revision: 2, version: 'second', waitsForBlocks: false });
  await until('event: changed\ndata: second\n\n');
  expect((await live.app.inject('/normal')).statusCode).toBe(200);
  response.destroy();
});

test('closing the app ends every stream at once', async () => {
  live = await start();
  const clients = await Promise.all([open(live.url), open(live.url)]);
  const ended = Promise.all(clients.map(({ response }) => once(response, 'end')));
  const closing = live.app.close();
  await ended;
  await closing;
  expect(live.streams.count()).toBe(0);
});

test('a client beyond the limit of its address, or of all, is told when to try again', async () => {
  live = await start({ max: 3, maxPerAddress: 2 });
  const own = [await open(live.url), await open(live.url)];
  const beyond = await open(live.url);
  const other = await open(live.url, '192.0.2.2');
  const full = await open(live.url, '192.0.2.3');
  expect([beyond, full].map(({ response }) => [response.statusCode, response.headers['retry-after']])).toEqual([
    [429, '60'],
    [503, '60'],
  ]);
  for (const { response } of [...own, other]) response.destroy();
  while (live.streams.count() > 0) await sleep(5);
  const again = await open(live.url);
  expect(again.response.statusCode).toBe(200);
  again.response.destroy();
});

test('an unknown page and a fault take no place; a deleted order ends its stream', async () => {
  live = await start();
  const statuses = [await open(live.url, '192.0.2.1', 'unknown'), await open(live.url, '192.0.2.1', 'broken')];
  expect(statuses.map(({ response }) => response.statusCode)).toEqual([404, 500]);
  const { response, until } = await open(live.url);
  live.change(null);
  await until('data: deleted');
  if (!response.readableEnded) await once(response, 'end');
  while (live.streams.count() > 0) await sleep(5);
});
