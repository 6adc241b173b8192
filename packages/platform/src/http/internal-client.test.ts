import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ERROR_CODES } from '@cpg/contracts';
import { freePort } from '@cpg/ports';
import { z } from 'zod';
import type { Dependency } from '../outages/outages.ts';
import { type InternalClient, internalClient } from './internal-client.ts';

const context = { actor: 'key:abc', requestId: 'req_1', correlationId: 'cor_1' };
const response = z.object({ ok: z.boolean() });

let server: Server;
let client: InternalClient;
let answer: (request: IncomingMessage, reply: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((request, reply) => answer(request, reply));
  const port = await freePort();
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  client = internalClient({
    name: 'orders',
    url: `http://127.0.0.1:${port}`,
    tokens: ['the-token', 'the-token-before'],
  });
});

afterEach(async () => {
  server.closeAllConnections();
  await Promise.all([client.close(), new Promise((closed) => server.close(closed))]);
});

const answerWith = (status: number, body: unknown) => {
  answer = (_, reply) => reply.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
};
const answerWithError = (status: number, code: string, more = {}) => {
  answerWith(status, { error: 'Refused', message: 'because', statusCode: status, code, request_id: 'req_1', ...more });
};
const call = (timeoutMs = 5_000) => client.call('GET', '/orders/1', { context, response, timeoutMs });

test('sends the call context and the token, and parses the response', async () => {
  const seen: { headers?: IncomingMessage['headers']; line?: string; body: string } = { body: '' };
  answer = (request, reply) => {
    request.setEncoding('utf8').on('data', (chunk: string) => (seen.body += chunk));
    request.on('end', () => reply.writeHead(201).end('{"ok":true,"more":1}'));
    Object.assign(seen, { headers: request.headers, line: `${request.method} ${request.url}` });
  };
  const body = { name: 'é' };
  expect(await client.call('POST', '/orders?x=1', { context, response, body })).toEqual({ ok: true });
  expect(seen).toMatchObject({
    line: 'POST /orders?x=1',
    body: JSON.stringify(body),
    headers: {
      authorization: 'Bearer the-token',
      'content-type': 'application/json',
      'x-actor': 'key:abc',
      'x-request-id': 'req_1',
      'x-correlation-id': 'cor_1',
    },
  });
});

test('returns the text of a response as it was sent, with its headers', async () => {
  answer = (_, reply) => reply.writeHead(201, { location: '/orders/1' }).end('{ "ok" : true }');
  const answered = await client.callForText('POST', '/orders', { context, body: {} });
  expect(answered).toMatchObject({ text: '{ "ok" : true }', headers: { location: '/orders/1' } });
  answerWithError(404, 'not_found');
  await expect(client.callForText('POST', '/orders', { context })).rejects.toMatchObject({ code: 'not_found' });
});

test('resolves to undefined for a response without a body', async () => {
  answerWith(204, '');
  await expect(client.call('DELETE', '/orders/1', { context, response: z.undefined() })).resolves.toBeUndefined();
});

test.each([400, 404, 409, 422, 503])('rethrows an AppError with status %d unchanged', async (status) => {
  const codes = Object.entries(ERROR_CODES).filter(([, of]) => of === status);
  expect(codes.length).toBeGreaterThan(0);
  for (const [code] of codes) {
    const details = [{ path: 'items.0', message: 'is wrong' }];
    answerWithError(status, code, { details });
    await expect(call()).rejects.toMatchObject({
      name: 'AppError',
      code,
      statusCode: status,
      message: 'because',
      details,
    });
  }
});

test('turns 401, 403 and 500 of the other service into an internal error', async () => {
  answerWithError(401, 'unauthorized');
  const cause = expect.stringContaining('does not know the token of this process');
  await expect(call()).rejects.toMatchObject({ code: 'internal_error', message: 'orders answered 401', cause });
  answerWithError(403, 'insufficient_scope');
  await expect(call()).rejects.toMatchObject({ code: 'internal_error', message: 'orders answered 403' });
  answerWithError(500, 'internal_error');
  await expect(call()).rejects.toMatchObject({ code: 'internal_error', message: 'orders answered 500' });
});

test.each([
  ['in an unknown format', 404, '<html>'],
  ['with an unknown code', 409, { error: 'E', message: 'm', statusCode: 409, code: 'surprise', request_id: 'r' }],
  [
    'with the name of an object property as its code',
    409,
    { error: 'E', message: 'm', statusCode: 409, code: 'constructor', request_id: 'r' },
  ],
])('turns an error response %s into an internal error', async (_, status, body) => {
  answerWith(status, body);
  await expect(call()).rejects.toMatchObject({
    code: 'internal_error',
    statusCode: 500,
    message: `orders answered ${status}`,
  });
});

test('treats a 503 of a proxy as unavailable', async () => {
  answerWith(503, 'no backend');
  await expect(call()).rejects.toMatchObject({ code: 'dependency_unavailable' });
});

test('rejects a response that does not match the schema', async () => {
  answerWith(200, { ok: 'yes' });
  await expect(call()).rejects.toThrow(z.ZodError);
});

const unavailable = {
  name: 'AppError',
  code: 'dependency_unavailable',
  statusCode: 503,
  message: 'orders is temporarily unavailable: retry the request',
};

test('treats a timeout as unavailable', async () => {
  answer = () => {};
  const started = performance.now();
  await expect(call(150)).rejects.toMatchObject(unavailable);
  expect(performance.now() - started).toBeLessThan(3_000);
});

test('treats an incomplete response as unavailable', async () => {
  answer = (_, reply) => void reply.writeHead(200).write('{"ok":');
  await expect(call(150)).rejects.toMatchObject(unavailable);
});

test('treats a broken connection as unavailable, and reconnects for the next call', async () => {
  answer = (request) => request.socket.destroy();
  await expect(call()).rejects.toMatchObject(unavailable);
  answerWith(200, { ok: true });
  await expect(call()).resolves.toEqual({ ok: true });
});

test.each<[string, 'GET' | 'POST', string]>([
  ['a read', 'GET', 'dependency_unavailable'],
  ['a command, which may have taken effect,', 'POST', 'outcome_unknown'],
])('%s without an answer is %s', async (_, method, code) => {
  const send = () => client.call(method, '/orders', { context, response, timeoutMs: 150 });
  answer = (request) => request.socket.destroy();
  await expect(send()).rejects.toMatchObject({ code, statusCode: 503 });
  answer = () => {};
  await expect(send()).rejects.toMatchObject({ code });
  answerWith(503, 'no backend');
  await expect(send()).rejects.toMatchObject({ code });
});

test('retries a call on a broken connection once, only if it is idempotent', async () => {
  let calls = 0;
  answer = (request, reply) => {
    calls += 1;
    if (calls === 1) request.socket.destroy();
    else reply.writeHead(200).end('{"ok":true}');
  };
  await expect(call()).resolves.toEqual({ ok: true });
  expect(calls).toBe(2);
  calls = 0;
  await expect(client.call('DELETE', '/orders/1', { context, response, idempotent: false })).rejects.toMatchObject({
    code: 'outcome_unknown',
  });
  expect(calls).toBe(1);
});

test('keeps an idle connection for the next call, but not for one that cannot be retried', async () => {
  const connections = new Set<unknown>();
  answer = (request, reply) => {
    connections.add(request.socket);
    reply.writeHead(200).end('{"ok":true}');
  };
  const callOnce = () => client.call('DELETE', '/orders/1', { context, response, idempotent: false });
  await call();
  await callOnce();
  expect(connections.size).toBe(2);
  await sleep(700);
  await call();
  expect(connections.size).toBe(2);
  await callOnce();
  expect(connections.size).toBe(3);
});

test('lets the outages follow its service by its readiness', async () => {
  const watched = new Map<string, (() => Promise<unknown>) | undefined>();
  const outages = { watch: (name: string, { check }: Dependency) => (watched.set(name, check), async () => {}) };
  const { port } = server.address() as AddressInfo;
  const followed = internalClient({ name: 'orders', url: `http://127.0.0.1:${port}`, tokens: ['t'], outages });
  answerWith(200, { status: 'ready' });
  await expect(watched.get('orders')!()).resolves.toEqual({ status: 'ready' });
  answerWith(503, { status: 'not ready' });
  await expect(watched.get('orders')!()).rejects.toMatchObject(unavailable);
  await followed.close();
});

test('treats refused connections as unavailable', async () => {
  const unreachable = internalClient({ name: 'orders', url: 'http://127.0.0.1:1', tokens: ['t'] });
  const call = (connectRetryMs: number) => unreachable.call('POST', '/', { context, response, connectRetryMs });
  await expect(call(0)).rejects.toMatchObject(unavailable);
  await expect(call(200)).rejects.toMatchObject(unavailable);
  await unreachable.close();
});

test('retries refused connections until the service has restarted', async () => {
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  const pending = call();
  await expect(client.call('GET', '/', { context, response, connectRetryMs: 0 })).rejects.toMatchObject(unavailable);
  answerWith(200, { ok: true });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  await expect(pending).resolves.toEqual({ ok: true });
});
