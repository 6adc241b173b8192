import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  request,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { freePort } from '@cpg/ports';
import { startProxy } from './proxy.ts';

const closing: (() => unknown)[] = [];
const notReady = new Set<string>();

afterEach(() => {
  for (const close of closing.splice(0)) close();
  notReady.clear();
});

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
};

/** Starts an instance for each listener, and a proxy in front of them. A number stands for a port nobody listens on. */
const proxyTo = async (...listeners: (RequestListener | number)[]): Promise<number> => {
  const addresses = await Promise.all(
    listeners.map(async (listener, index) => ({
      name: `orders-${index + 1}`,
      host: '127.0.0.1',
      port: typeof listener === 'number' ? listener : await listen(createServer(listener)),
    })),
  );
  const port = await freePort();
  let checks = 0;
  const check = async ({ name }: { name: string }) => {
    checks += 1;
    return notReady.has(name) ? 'does not respond' : null;
  };
  closing.push(await startProxy({ host: '127.0.0.1', port, addresses, check, warn: () => {} }));
  while (checks < listeners.length) await new Promise(setImmediate);
  return port;
};

const send = async (
  port: number,
  { method = 'GET', body, headers = {} }: { method?: string; body?: string; headers?: Record<string, string> } = {},
) => {
  const sent = request({ host: '127.0.0.1', port, method, path: '/a?b=1', headers, agent: false });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
};

const answering =
  (name: string): RequestListener =>
  (_, response) =>
    response.end(name);

test('gives requests to the instances in turn', async () => {
  const port = await proxyTo(answering('one'), answering('two'));
  const answers = [];
  for (let n = 0; n < 4; n += 1) answers.push((await send(port)).text);
  expect(answers.slice(2)).toEqual(answers.slice(0, 2));
  expect(new Set(answers)).toEqual(new Set(['one', 'two']));
});

test('passes method, path, headers, body and answer on, and adds the address of the client', async () => {
  const respond = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, url, headers } = incoming;
    response.writeHead(
      201,
      'Made',
      [
        ['set-cookie', 'a=1'],
        ['set-cookie', 'b=2'],
        ['location', '/x'],
      ].flat(),
    );
    response.end(JSON.stringify({ method, url, headers, body: await text(incoming) }));
  };
  const port = await proxyTo((incoming, response) => void respond(incoming, response));
  const headers = { 'x-api-key': 'k', 'x-forwarded-for': '203.0.113.9', connection: 'close, x-hop', 'x-hop': '1' };
  const answer = await send(port, { method: 'POST', body: 'hello', headers });
  expect(answer).toMatchObject({ status: 201, headers: { location: '/x', 'set-cookie': ['a=1', 'b=2'] } });
  const seen = JSON.parse(answer.text);
  expect(seen).toMatchObject({ method: 'POST', url: '/a?b=1', body: 'hello' });
  expect(seen.headers).toMatchObject({ 'x-api-key': 'k', 'x-forwarded-for': '203.0.113.9, 127.0.0.1' });
  expect(seen.headers).not.toHaveProperty('x-hop');
});

test('sends a request that an instance refused to another one, with its body', async () => {
  const echo: RequestListener = (incoming, response) => void incoming.pipe(response);
  const port = await proxyTo(await freePort(), echo);
  for (let n = 0; n < 4; n += 1)
    expect(await send(port, { method: 'POST', body: `body ${n}` })).toMatchObject({ status: 200, text: `body ${n}` });
});

test('gives no requests to an instance that does not answer its checks', async () => {
  notReady.add('orders-1');
  const port = await proxyTo(() => {}, answering('two'));
  for (let n = 0; n < 3; n += 1) expect((await send(port)).text).toBe('two');
});

test('breaks the connection and sends nothing twice when an instance dies with a request', async () => {
  let received = 0;
  const dying: RequestListener = (incoming) => {
    received += 1;
    incoming.socket.destroy();
  };
  const port = await proxyTo(dying, dying);
  await expect(send(port, { method: 'POST', body: 'once' })).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(received).toBe(1);
});

test('ends the request at the instance when the client leaves', async () => {
  let left: Promise<unknown> | undefined;
  const port = await proxyTo((_, response) => {
    left = once(response, 'close');
    response.write('begun');
  });
  const sent = request({ host: '127.0.0.1', port, agent: false }).end();
  await once(sent, 'response');
  sent.on('error', () => {}).destroy();
  await left;
});
