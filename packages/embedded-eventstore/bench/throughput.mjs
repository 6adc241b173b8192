// Measures a running event store through the real client: EVENTSTORE_URL=esdb://... node bench/throughput.mjs
import { randomUUID } from 'node:crypto';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';

const WRITERS = 32;
const SECONDS = 5;
const client = EventStoreDBClient.connectionString(process.env.EVENTSTORE_URL ?? 'esdb://127.0.0.1:2113?tls=false');
const event = () =>
  jsonEvent({
    type: 'OrderCreated',
    data: { orderId: randomUUID(), amount: '1234.56', currency: 'EUR', note: 'x'.repeat(200) },
    metadata: { correlationId: randomUUID(), causationId: randomUUID() },
  });

const percentile = (sorted, p) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))].toFixed(1);
const report = (name, count, ms, latencies) => {
  const sorted = latencies?.sort((a, b) => a - b);
  const spread = sorted ? `  p50 ${percentile(sorted, 0.5)} ms  p99 ${percentile(sorted, 0.99)} ms` : '';
  console.log(`${name.padEnd(44)} ${Math.round((count / ms) * 1000)}/s${spread}`);
};
const timed = async (latencies, work) => {
  const from = performance.now();
  const result = await work();
  latencies.push(performance.now() - from);
  return result;
};

const idle = [];
for (let i = 0; i < 300; i++) await timed(idle, () => client.appendToStream(`idle-${randomUUID()}`, event()));
report(
  'one writer',
  idle.length,
  idle.reduce((a, b) => a + b),
  idle,
);

const { position } = await client.appendToStream(`mark-${randomUUID()}`, event());
const latencies = [];
const start = performance.now();
await Promise.all(
  Array.from({ length: WRITERS }, async () => {
    let stream = '';
    for (let i = 0; performance.now() - start < SECONDS * 1000; i++) {
      const revision = BigInt(i % 5) - 1n;
      if (revision < 0n) stream = `order-${randomUUID()}`;
      const expectedRevision = revision < 0n ? 'no_stream' : revision;
      await timed(latencies, () => client.appendToStream(stream, event(), { expectedRevision }));
    }
  }),
);
report(`${WRITERS} writers, one event each`, latencies.length, performance.now() - start, latencies);

const catchUp = async (name) => {
  const from = performance.now();
  const subscription = client.subscribeToAll({ fromPosition: position });
  await new Promise((resolve) => {
    let left = latencies.length;
    subscription.on('data', () => --left === 0 && resolve());
  });
  await subscription.unsubscribe();
  report(name, latencies.length, performance.now() - from);
};
await catchUp('$all subscription, catching up');

const delays = [];
const sentAt = new Map();
const live = client.subscribeToAll({ fromPosition: 'end' });
live.on('data', ({ event }) => delays.push(performance.now() - sentAt.get(event.id)));
await new Promise((resolve) => live.once('caughtUp', resolve));
for (let i = 0; i < 200; i++) {
  const one = event();
  sentAt.set(one.id, performance.now());
  await client.appendToStream(`live-${randomUUID()}`, one);
}
await live.unsubscribe();
report(
  'append to live subscriber',
  delays.length,
  delays.reduce((a, b) => a + b),
  delays,
);
await client.dispose();
process.exit(0);
