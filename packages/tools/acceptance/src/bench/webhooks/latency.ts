import { setTimeout as sleep } from 'node:timers/promises';
import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import { ulidToUUID } from 'ulid';
import { orderClient } from '../order-client.ts';
import { cpuMeter } from '../process-costs.ts';
import { atMost, ms, type Row } from '../report.ts';
import { timingsOf } from '../timings.ts';
import { type BenchStack, withBenchStack } from './bench-stack.ts';

/** A machine that is busy with other work should get 40 % of what it can take. */
const ORDERS_PER_SECOND = Number(process.env.ORDERS_PER_SECOND ?? 100);
/** Until the code of the services is compiled. */
const WARM_UP_MS = 20_000;
const FOR_MS = 20_000;
const PROCESSES = ['webhook-dispatcher-1', 'kafka', 'postgres'];

/** Measures the time from the event's timestamp in the event store to the first byte at the receiver.
 *  The timestamp is in whole milliseconds. The store takes it about 0.6 ms before the commit ends. */
export const latency = async (): Promise<Row[]> => {
  const { timings, cpu } = await withBenchStack(1, async (bench) => {
    console.log(`${ORDERS_PER_SECOND} orders a second`);
    await measureLatency(bench, WARM_UP_MS);
    return measureLatency(bench, FOR_MS);
  });
  const { median, p99 } = timings;
  return [
    {
      measure: `event to first byte at ${ORDERS_PER_SECOND} orders/s, median`,
      measured: ms(median),
      goal: atMost(median, 10, ' ms'),
    },
    { measure: 'the same, p99', measured: ms(p99), goal: atMost(p99, 40, ' ms') },
    ...cpu.map(([name, each]) => ({ measure: `CPU per event, ${name}`, measured: ms(each) })),
  ];
};

const measureLatency = async ({ stack, endpoints }: BenchStack, forMs: number) => {
  const orders = orderClient({ ...stack, connections: 32 });
  const began = performance.now();
  const created: Promise<unknown>[] = [];
  await endpoints.received();
  const cpuOf = cpuMeter(stack, PROCESSES);
  for (let n = 0; n < (ORDERS_PER_SECOND * forMs) / 1_000; n += 1) {
    created.push(orders.create());
    await sleep(Math.max(0, began + ((n + 1) * 1_000) / ORDERS_PER_SECOND - performance.now()));
  }
  await Promise.all(created);
  await sleep(1_000);
  const cpu = cpuOf(created.length);
  await orders.close();
  const { events } = await endpoints.received();
  const receivedAt = new Map(events.map(([id, atMs]) => [uuidOf(id), atMs]));
  const written = await writtenAt(stack.eventstoreUrl, receivedAt);
  return { timings: timingsOf([...receivedAt].map(([uuid, atMs]) => atMs - written.get(uuid)!)), cpu };
};

/** The UUID in the event store of an event id: `evt_` and the same bits as a ULID. */
const uuidOf = (eventId: string): string => ulidToUUID(eventId.slice('evt_'.length)).toLowerCase();

/** When the event store wrote these recent events: Unix milliseconds by UUID. */
const writtenAt = async (url: string, wanted: ReadonlyMap<string, unknown>): Promise<Map<string, number>> => {
  const client = EventStoreDBClient.connectionString(url);
  const found = new Map<string, number>();
  for await (const { event } of client.readAll({ direction: BACKWARDS, fromPosition: END })) {
    if (event && wanted.has(event.id)) found.set(event.id, event.created.getTime());
    if (found.size === wanted.size) break;
  }
  await client.dispose();
  return found;
};
