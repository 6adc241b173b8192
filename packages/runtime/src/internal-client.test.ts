import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ERROR_CODES } from '@cpg/core';
import { z } from 'zod';
import { type InternalClient, internalClient } from './internal-client.ts';

const context = { actor: 'key:abc', requestId: 'req_1', correlationId: 'cor_1' };
const response = z.object({ ok: z.boolean() });

let server: Server;
let client: InternalClient;
let answer: (request: IncomingMessage, reply: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((request, reply) => answer(request, reply));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  client = internalClient({ name: 'orders', url: `http://127.0.0.1:${port}`, token: 'the-token' });
});

afterEach(async () => {
  server.closeAllConnections();
  await Promise.all([client.close(), new Promise((closed) => server.close(closed))]);
});

const answering = (status: number, body: unknown) => {
  answer = (_, reply) => reply.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
};
const refused = (status: number, code: string, more = {}) => {
  answering(status, { error: 'Refused', message: 'because', statusCode: status, code, request_id: 'req_1', ...more });
};
const call = (timeoutMs = 5_000) => client.call('GET', '/orders/1', { context, response, timeoutMs });

test('a call carries who asks, in which request, and the token; the answer is parsed', async () => {
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

test('an answer without a body is undefined', async () => {
  answering(204, '');
  await expect(client.call('DELETE', '/orders/1', { context, response: z.undefined() })).resolves.toBeUndefined();
});

test.each([400, 404, 409, 422, 503])('a refusal with %d arrives as the refusal it was', async (status) => {
  const codes = Object.entries(ERROR_CODES).filter(([, of]) => of === status);
  expect(codes.length).toBeGreaterThan(0);
  for (const [code] of codes) {
    const details = [{ path: 'items.0', message: 'is wrong' }];
    refused(status, code, { details });
    await expect(call()).rejects.toMatchObject({
      name: 'AppError',
      code,
      statusCode: status,
      message: 'because',
      details,
    });
  }
});

test("a refused token or a fault there is our fault, not the caller's", async () => {
  refused(401, 'unauthorized');
  await expect(call()).rejects.toMatchObject({ code: 'internal_error', message: 'orders answered 401' });
  refused(500, 'internal_error');
  await expect(call()).rejects.toMatchObject({ code: 'internal_error', message: 'orders answered 500' });
});

test.each([
  ['in no form we know', 404, '<html>'],
  ['with a code we do not know', 409, { error: 'E', message: 'm', statusCode: 409, code: 'surprise', request_id: 'r' }],
  [
    'with a code that every object has',
    409,
    { error: 'E', message: 'm', statusCode: 409, code: 'constructor', request_id: 'r' },
  ],
])('a refusal %s is our fault', async (_, status, body) => {
  answering(status, body);
  await expect(call()).rejects.toMatchObject({
    code: 'internal_error',
    statusCode: 500,
    message: `orders answered ${status}`,
  });
});

test('a proxy that answers 503 in its own words is an outage', async () => {
  answering(503, 'no backend');
  await expect(call()).rejects.toMatchObject({ code: 'dependency_unavailable' });
});

test('an answer of another shape is not passed on', async () => {
  answering(200, { ok: 'yes' });
  await expect(call()).rejects.toThrow(z.ZodError);
});

const away = {
  name: 'AppError',
  code: 'dependency_unavailable',
  statusCode: 503,
  message: 'orders is not available right now: try again',
};

test('no answer in time is an outage', async () => {
  answer = () => {};
  const started = performance.now();
  await expect(call(150)).rejects.toMatchObject(away);
  expect(performance.now() - started).toBeLessThan(3_000);
});

test('half an answer in time is an outage', async () => {
  answer = (_, reply) => void reply.writeHead(200).write('{"ok":');
  await expect(call(150)).rejects.toMatchObject(away);
});

test('a connection that breaks is an outage, and the next call finds the service again', async () => {
  answer = (request) => request.socket.destroy();
  await expect(call()).rejects.toMatchObject(away);
  answering(200, { ok: true });
  await expect(call()).resolves.toEqual({ ok: true });
});

test('a call whose connection broke is made again when it may be made twice', async () => {
  let calls = 0;
  answer = (request, reply) => {
    calls += 1;
    if (calls === 1) request.socket.destroy();
    else reply.writeHead(200).end('{"ok":true}');
  };
  await expect(call()).resolves.toEqual({ ok: true });
  expect(calls).toBe(2);
  calls = 0;
  await expect(client.call('DELETE', '/orders/1', { context, response, idempotent: false })).rejects.toMatchObject(
    away,
  );
  expect(calls).toBe(1);
});

test('a service that is not there is an outage', async () => {
  const nobody = internalClient({ name: 'orders', url: 'http://127.0.0.1:1', token: 't' });
  const ask = (refusedMs: number) => nobody.call('GET', '/', { context, response, connectRetryMs: refusedMs });
  await expect(ask(0)).rejects.toMatchObject(away);
  await expect(ask(200)).rejects.toMatchObject(away);
  await nobody.close();
});

test('a service that refuses connections while it starts anew is called when it is back', async () => {
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  const asked = call();
  await expect(client.call('GET', '/', { context, response, connectRetryMs: 0 })).rejects.toMatchObject(away);
  answering(200, { ok: true });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  await expect(asked).resolves.toEqual({ ok: true });
});
