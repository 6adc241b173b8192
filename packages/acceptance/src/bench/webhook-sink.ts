import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A merchant's endpoint that notes when it first heard of each order, and acknowledges. */
export const startWebhookSink = async () => {
  const heardAtMs = new Map<string, number>();
  const server = createServer((request, response) => {
    const atMs = performance.now();
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      const id = /"id":"(ord_[0-9A-Z]{26})"/.exec(text)?.[1];
      if (id && !heardAtMs.has(id)) heardAtMs.set(id, atMs);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    heardAtMs,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};
