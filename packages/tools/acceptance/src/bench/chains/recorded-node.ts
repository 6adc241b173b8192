import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Recorded } from './recorded-blocks.ts';

// A node of JSON-RPC whose answers the parent process sends: the program of `startRecordedNode`.
const [answers] = (await once(process, 'message')) as [Recorded[]];
const recorded = new Map(answers.map(({ call, result }) => [JSON.stringify(call), JSON.stringify(result)]));

const answerTo = (body: string): string => {
  const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: unknown[] };
  const result = recorded.get(JSON.stringify([method, params]));
  return result === undefined
    ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"not recorded"}}`
    : `{"jsonrpc":"2.0","id":${id},"error":null,"result":${result}}`;
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.setHeader('content-type', 'application/json');
    response.end(answerTo(Buffer.concat(chunks).toString()));
  });
});
server.listen(0, '127.0.0.1', () => process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.once('disconnect', () => process.exit());
