import { once } from 'node:events';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnyApp } from './any-app.ts';
import { createApp } from './app.ts';
import { createLogger } from '../log/logger.ts';
import { createConcurrencyLimit, type RequestEnd } from '../load/concurrency-limit.ts';
import { refuseOverload } from '../load/refuse-overload.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const limit = createConcurrencyLimit({ initial: 20, min: 4 });
const ends: { end: RequestEnd; clientMs: number | undefined }[] = [];
let app: AnyApp;

beforeAll(async () => {
  // Less than the time of a body, which does not count.
  app = createApp({ log, responseTimeoutMs: 1_000 });
  const admit = (owner: string) => {
    const ended = limit.admit(owner);
    return ended && ((end: RequestEnd, clientMs?: number) => (ends.push({ end, clientMs }), ended(end, clientMs)));
  };
  refuseOverload(app, { limits: { normal: { ...limit, admit } }, ownerOf: () => 'anyone', log });
  app.post('/echo', async (request: { body: unknown }) => ({ echo: request.body }));
  app.post('/slow-echo', async (request: { body: unknown }) => {
    await sleep(50);
    return { echo: request.body };
  });
  await app.listen({ port: 0, host: '127.0.0.1' });
});
beforeEach(() => void (ends.length = 0));
afterAll(async () => {
  app.server.closeAllConnections();
  await app.close();
});

/** Sends the parts with pauses between them. Resolves with all that the server has sent once it closes the
 *  connection. */
const send = async (parts: readonly string[], pauseMs = 0): Promise<string> => {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  socket.on('data', (data) => void (received += data.toString()));
  socket.on('error', () => {});
  const closed = once(socket, 'close');
  for (const [index, part] of parts.entries()) {
    if (index > 0) await sleep(pauseMs);
    socket.write(part);
  }
  await closed;
  return received;
};
const head = (...headers: string[]) =>
  ['POST /echo HTTP/1.1', 'host: x', 'content-type: application/json', ...headers, '', ''].join('\r\n');
const bodyOf = (response: string): unknown => JSON.parse(response.slice(response.indexOf('\r\n\r\n')));

test.each([
  ['with a declared length', ['content-length: 100'], '{"a":'],
  ['in chunks', ['transfer-encoding: chunked'], '5\r\n{"a":\r\n'],
])('a body %s that does not arrive is 408, and its place is free', async (_, headers, part) => {
  const response = await send([head(...headers), part]);
  expect(response).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/);
  expect(response).toMatch(/\r\nconnection: close\r\n/i);
  expect(bodyOf(response)).toMatchObject({ error: 'Request Timeout', statusCode: 408, code: 'request_timeout' });
  expect(limit.inProgress()).toBe(0);
  expect(ends[0]!.end).toBe('failed');
});

test('the time of a body is not the latency of its request, nor part of the time for its response', async () => {
  const response = await send([`${head('content-length: 7', 'connection: close')}{"a"`, ':1}'], 1_200);
  expect(bodyOf(response)).toEqual({ echo: { a: 1 } });
  expect(ends[0]).toEqual({ end: 'done', clientMs: expect.any(Number) });
  expect(ends[0]!.clientMs).toBeGreaterThanOrEqual(1_100);
});

test('half-sent bodies leave the limit where it is', async () => {
  const before = limit.limit();
  await Promise.all(Array.from({ length: 12 }, () => send([head('content-length: 100'), '{'])));
  expect(limit.limit()).toBe(before);
  expect(limit.inProgress()).toBe(0);
});

test('headers that do not arrive are 408', async () => {
  const response = await send(['POST /echo HTTP/1.1\r\nhost: x\r\n']);
  expect(response).toMatch(/^HTTP\/1.1 408 /);
  expect(bodyOf(response)).toMatchObject({ code: 'request_timeout', request_id: expect.stringMatching(/^req_/) });
});

test('a connection that sends nothing is closed without an answer', async () => {
  expect(await send([])).toBe('');
});

test('what is no request does not take the answer of the request before it', async () => {
  const request = `${head('content-length: 7')}{"a":1}`;
  const response = await send([`${request.replace('/echo', '/slow-echo')}hello\r\n\r\n`]);
  expect(response).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  expect(bodyOf(response)).toEqual({ echo: { a: 1 } });
});

test('headers that are too large are 431, and text that is not HTTP is 400', async () => {
  expect(bodyOf(await send([head(`x: ${'x'.repeat(17_000)}`)]))).toMatchObject({
    statusCode: 431,
    code: 'headers_too_large',
  });
  expect(bodyOf(await send(['hello\r\n\r\n']))).toMatchObject({ statusCode: 400, code: 'invalid_request' });
});

const headOf = (method: string, ...headers: string[]) =>
  `${[`${method} /echo HTTP/1.1`, ...headers, 'connection: close'].join('\r\n')}\r\n\r\n`;

test.each([
  ['no host', headOf('GET'), 400, 'invalid_request'],
  [
    'a host behind 2000 headers',
    headOf('GET', ...Array<string>(2_001).fill('a: 1'), 'host: x'),
    // Node.js 24 refuses so many headers, 20 leaves the host out.
    ...(process.versions.node.startsWith('20.')
      ? ([400, 'invalid_request'] as const)
      : ([431, 'headers_too_large'] as const)),
  ],
  ['an unknown expectation', headOf('GET', 'host: x', 'expect: magic'), 404, 'not_found'],
  ['an unknown method', headOf('BREW', 'host: x'), 400, 'invalid_request'],
  ['CONNECT', headOf('CONNECT', 'host: x'), 405, 'method_not_allowed'],
  ['another version of HTTP', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_request'],
  ['a space in the path', 'GET /e cho HTTP/1.1\r\nhost: x\r\n\r\n', 400, 'invalid_request'],
  ['two lengths', headOf('POST', 'host: x', 'content-length: 1', 'content-length: 2'), 400, 'invalid_request'],
  ['a header that is too large', headOf('GET', 'host: x', `x: ${'x'.repeat(17_000)}`), 431, 'headers_too_large'],
  [
    'a path that is too long',
    headOf('GET', 'host: x').replace('/echo', `/${'x'.repeat(17_000)}`),
    431,
    'headers_too_large',
  ],
])('a request with %s is answered with a code and a request id', async (_, request, status, code) => {
  const response = await send([request]);
  expect(response).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*\r\nconnection: close\r\n`, 'i'));
  const [message, requestId] = [/./, /^req_/].map((text) => expect.stringMatching(text) as string);
  expect(bodyOf(response)).toMatchObject({ statusCode: status, code, message, request_id: requestId });
});
