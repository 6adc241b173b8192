import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { rpcNode, type RpcNode } from './json-rpc.ts';

const HEX = '00ff'.repeat(40_000);

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

test.each([7, 20, 1_000, 1_001, 65_536])('decodes a result that arrives in pieces of %i bytes', async (pieceBytes) => {
  for (const text of [
    `{"result":"${HEX}","error":null,"id":ID}`,
    `{"id":ID,"error":null,"result":"${HEX}"}`,
    `{ "id": ID, "result": "${HEX}" }`,
  ]) {
    answering(text, pieceBytes);
    expect((await node.bytes('getblock', [])).equals(Buffer.from(HEX, 'hex'))).toBe(true);
  }
});

test('decodes an empty result', async () => {
  answering('{"result":"","id":ID}');
  expect(await node.bytes('getblock', [])).toHaveLength(0);
});

test.each([
  ['no quotation mark after the result', `{"id":ID,"result":"${HEX}`],
  ['an escaped character', `{"id":ID,"result":"${HEX}\\u0030\\u0030"}`.replace('ff\\u', 'f\\u')],
  ['the result of an inner object', `{"id":ID,"result":{"result":"${HEX}"}}`],
  ['an inner object beside another result', `{"id":ID,"more":{"result":"${HEX}"},"result":7}`],
  ['no answer', ''],
])('refuses %s', async (_, text) => {
  answering(text, 777);
  await expect(node.bytes('getblock', [])).rejects.toMatchObject({ fault: 'malformed' });
});

test('reads characters outside of ASCII, also those that end in the next piece', async () => {
  for (const pieceBytes of [1, 2, 1_000]) {
    answering('{"id":ID,"result":"größer 🪙"}', pieceBytes);
    expect(await node.call('any')).toBe('größer 🪙');
  }
});
