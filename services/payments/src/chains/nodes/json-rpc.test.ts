import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rpcNode, type RpcNode } from './json-rpc.ts';

/** Answers with a text after the id, in pieces of some bytes, each of them a chunk of HTTP. */
const answer = { text: '', pieceBytes: 1_000 };
let server: Server;
let node: RpcNode;
beforeAll(async () => {
  server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number };
      const bytes = Buffer.from(answer.text.replace('ID', String(id)));
      for (let at = 0; at < bytes.length; at += answer.pieceBytes)
        response.write(bytes.subarray(at, at + answer.pieceBytes));
      response.end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  node = rpcNode({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, number: 1 });
});
afterAll(async () => {
  await node.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
const answering = (text: string, pieceBytes = 1_000) => Object.assign(answer, { text, pieceBytes });

test.each([
  ['half an answer', '{"id":ID,"result":"00ff'],
  ['the answer to another question', '{"id":999,"result":7}'],
  ['neither result nor error', '{"id":ID,"error":null}'],
  ['an error without a code', '{"id":ID,"error":{"message":"no"}}'],
  ['no answer', ''],
])('refuses %s', async (_, text) => {
  answering(text);
  await expect(node.call('any')).rejects.toMatchObject({ fault: 'malformed' });
});

test.each(['7', 'null', '{"error":{"code":1}}'])('passes the result %s on', async (result) => {
  answering(`{"result":${result},"error":null,"id":ID}`);
  expect(await node.call('any')).toEqual(JSON.parse(result));
});

test('reads characters outside of ASCII, also those that end in the next piece', async () => {
  for (const pieceBytes of [1, 2, 1_000]) {
    answering('{"id":ID,"result":"größer 🪙"}', pieceBytes);
    expect(await node.call('any')).toBe('größer 🪙');
  }
});

describe('with a node that refuses', () => {
  const refusals: { status: number; headers?: Record<string, string>; text: string }[] = [];
  let asked = 0;
  let refusing: Server;
  let patient: RpcNode;
  beforeAll(async () => {
    refusing = createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk as Buffer);
        const { id } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number };
        asked += 1;
        const { status, headers, text } = refusals.shift() ?? { status: 200, text: '{"id":ID,"result":7}' };
        response.writeHead(status, headers).end(text.replace('ID', String(id)));
      })();
    });
    await new Promise<void>((resolve) => refusing.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(refusing.address() as AddressInfo).port}`;
    patient = rpcNode({ url, number: 3, busyWaitsMs: [1, 1] });
  });
  beforeEach(() => {
    asked = 0;
    refusals.length = 0;
  });
  afterAll(async () => {
    await patient.close();
    await new Promise((resolve) => refusing.close(resolve));
  });
  const limit = '{"id":ID,"error":{"code":-32005,"message":"rate limit exceeded"}}';

  test('shows no password of its URL that the node repeats, as it is written or decoded', async () => {
    const { port } = refusing.address() as AddressInfo;
    const url = `http://operator:open%40sesame%23@127.0.0.1:${port}`;
    const named = rpcNode({ url, number: 3 });
    const message = 'open%40sesame%23 and open@sesame# are wrong for operator';
    refusals.push({ status: 200, text: `{"id":ID,"error":${JSON.stringify({ code: 3, message })}}` });
    await expect(named.call('any')).rejects.toThrow('node 3, any: error 3: … and … are wrong for …');
    await named.close();
  });

  test('asks again, because a limit per second soon lets the call pass', async () => {
    refusals.push({ status: 429, text: '' }, { status: 200, text: limit });
    expect(await patient.call('any')).toBe(7);
    expect(asked).toBe(3);
  });

  test('gives up after some waits, and says what the node asks for', async () => {
    for (let n = 0; n < 3; n += 1) refusals.push({ status: 429, headers: { 'retry-after': '0' }, text: limit });
    await expect(patient.call('any')).rejects.toMatchObject({
      name: 'ChainNodeError',
      fault: 'busy',
      message: 'node 3, any: error -32005: rate limit exceeded',
      retryAfterMs: 0,
    });
    refusals.push({ status: 429, headers: { 'retry-after': '30' }, text: '' });
    asked = 0;
    await expect(patient.call('any')).rejects.toMatchObject({ fault: 'busy', retryAfterMs: 30_000 });
    expect(asked).toBe(1);
  });

  test.each([
    [-32_601, 'the method trace_block does not exist/is not available', 'no_method'],
    [3, 'execution reverted', 'reverted'],
    [-32_603, 'internal error', 'unknown'],
  ])('passes the error %i on, with its class', async (code, message, kind) => {
    refusals.push({ status: 200, text: `{"id":ID,"error":${JSON.stringify({ code, message })}}` });
    await expect(patient.call('any')).rejects.toMatchObject({ name: 'RpcError', code, kind });
    expect(asked).toBe(1);
  });
});
