import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The deliveries received since the last report. */
export interface Received {
  /** Distinct x-delivery-id. */
  readonly deliveries: number;
  /** When the first delivery of each event arrived, in Unix milliseconds by x-idempotency-key. */
  readonly events: readonly (readonly [event: string, atMs: number])[];
}

// Merchants' endpoints as their own process: /slow... answers after 250 ms, others at once. Over IPC it sends its port
// first, and then a report for each message that it gets.
const deliveries = new Set<string>();
const events = new Map<string, number>();
const server = createServer((request, response) => {
  const { headers, url } = request.resume();
  deliveries.add(headers['x-delivery-id'] as string);
  const key = headers['x-idempotency-key'] as string;
  if (!events.has(key)) events.set(key, performance.timeOrigin + performance.now());
  const answer = () => response.writeHead(204).end();
  if (url!.startsWith('/slow')) setTimeout(answer, 250);
  else answer();
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  const received: Received = { deliveries: deliveries.size, events: [...events] };
  process.send!(received);
  deliveries.clear();
  events.clear();
});
process.on('disconnect', () => process.exit());
