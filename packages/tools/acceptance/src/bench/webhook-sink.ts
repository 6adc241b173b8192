import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Starts a merchant's endpoint that acknowledges each delivery and records when it first received each order. */
export const startWebhookSink = async () => {
  const receivedAtMs = new Map<string, number>();
  const server = createServer((request, response) => {
    const atMs = performance.now();
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (text += chunk));
    request.on('end', () => {
      response.writeHead(204).end();
      const id = /"id":"(ord_[0-9A-Z]{26})"/.exec(text)?.[1];
      if (id && !receivedAtMs.has(id)) receivedAtMs.set(id, atMs);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    receivedAtMs,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

export type WebhookSink = Awaited<ReturnType<typeof startWebhookSink>>;
