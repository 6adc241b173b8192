import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Api } from '../harness/api.ts';

/** Starts a merchant's endpoint for `order:created`. It acknowledges each delivery and records when it first received
 *  each order. */
export const startWebhookSink = async (api: Api) => {
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
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const { id } = await api.createWebhook({ url, events: ['order:created'] });
  await api.updateWebhook(id, { is_enabled: true });
  return {
    receivedAtMs,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

export type WebhookSink = Awaited<ReturnType<typeof startWebhookSink>>;
