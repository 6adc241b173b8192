import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The requests received since the last report. */
export interface Received {
  readonly requests: number;
  /** Distinct x-delivery-id. */
  readonly deliveries: number;
  /** By x-idempotency-key: when the first request with the event arrived and when the event happened, in Unix
   *  milliseconds. Excludes hanging endpoints. */
  readonly events: readonly (readonly [string, { readonly receivedAt: number; readonly happenedAt: number }])[];
}

// Merchants' endpoints as their own process: /ok... answers at once, /slow... after 250 ms, /hang... never. Over IPC it
// sends its port first, and then a report of the received requests for each message that it gets.
let requests = 0;
const deliveries = new Set<string>();
const events = new Map<string, { receivedAt: number; happenedAt: number }>();
const server = createServer((request, response) => {
  const { headers, url } = request;
  request.resume();
  if (url!.startsWith('/hang')) return;
  requests += 1;
  deliveries.add(headers['x-delivery-id'] as string);
  const key = headers['x-idempotency-key'] as string;
  if (!events.has(key))
    events.set(key, {
      receivedAt: performance.timeOrigin + performance.now(),
      happenedAt: Number(headers['x-timestamp']),
    });
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
