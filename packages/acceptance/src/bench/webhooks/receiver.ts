import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Merchants' endpoints, as a program of its own with an IPC channel: /ok... acknowledges at once, /slow... after a quarter
 *  of a second, /hang... never. Tells its port first,
 *  and what came since it was last asked whenever it is asked. */
export interface Received {
  readonly requests: number;
  /** Different ones among them, by x-delivery-id. */
  readonly deliveries: number;
  /** The events, by x-idempotency-key, and in Unix milliseconds when the first byte of each was here and when it had happened. Endpoints
   *  that hang do not count. */
  readonly events: readonly (readonly [string, { readonly cameAt: number; readonly happenedAt: number }])[];
}

let requests = 0;
const deliveries = new Set<string>();
const events = new Map<string, { cameAt: number; happenedAt: number }>();
const server = createServer((request, response) => {
  const { headers, url } = request;
  request.resume();
  if (url!.startsWith('/hang')) return;
  requests += 1;
  deliveries.add(headers['x-delivery-id'] as string);
  const key = headers['x-idempotency-key'] as string;
  if (!events.has(key)) events.set(key, { cameAt: Date.now(), happenedAt: Number(headers['x-timestamp']) });
  if (url!.startsWith('/slow')) setTimeout(() => response.writeHead(204).end(), 250);
  else response.writeHead(204).end();
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  const received: Received = { requests, deliveries: deliveries.size, events: [...events] };
  process.send!(received);
  requests = 0;
  deliveries.clear();
  events.clear();
});
process.on('disconnect', () => process.exit());
