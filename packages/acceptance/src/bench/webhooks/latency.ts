import { setTimeout as sleep } from 'node:timers/promises';
import { BACKWARDS, END, EventStoreDBClient } from '@eventstore/db-client';
import { ulidToUUID } from 'ulid';
import { creator } from '../orders.ts';
import { ms, type Row } from '../report.ts';
import { type Timings, timingsOf } from '../timings.ts';
import { onStage, type Stage } from './stage.ts';

const ORDERS_PER_SECOND = 100;
/** As long as it takes until the services' code is compiled. */
const WARM_UP_MS = 20_000;
const FOR_MS = 20_000;

/** From when the event store wrote the event, which is just before the commit ends, to the first byte at the receiver. */
export const latency = async (): Promise<Row[]> => {
  const { median, p99 } = await onStage(1, async (stage) => {
    console.log(`${ORDERS_PER_SECOND} orders a second`);
    await feel(stage, WARM_UP_MS);
    return feel(stage, FOR_MS);
  });
  return [
    {
      measure: `event to first byte at ${ORDERS_PER_SECOND} orders/s, median`,
      measured: ms(median),
      goal: { text: '< 10 ms', met: median < 10 },
    },
    { measure: 'the same, p99', measured: ms(p99), goal: { text: '< 40 ms', met: p99 < 40 } },
  ];
};

const feel = async ({ stack, endpoints }: Stage, forMs: number): Promise<Timings> => {
  const orders = creator({ ...stack, connections: 32 });
  const began = performance.now();
  const created: Promise<unknown>[] = [];
  await endpoints.received();
  for (let n = 0; n < (ORDERS_PER_SECOND * forMs) / 1_000; n += 1) {
    created.push(orders.create());
    await sleep(Math.max(0, began + ((n + 1) * 1_000) / ORDERS_PER_SECOND - performance.now()));
  }
  await Promise.all(created);
  await sleep(1_000);
  await orders.close();
  const { events } = await endpoints.received();
  const came = new Map(events.map(([id, { cameAt }]) => [uuidOf(id), cameAt]));
  const written = await writtenAt(stack.eventstoreUrl, came);
  return timingsOf([...came].map(([uuid, cameAt]) => cameAt - written.get(uuid)!));
};

/** `evt_` and a ULID, whose bits the event store has as a UUID. */
const uuidOf = (eventId: string): string => ulidToUUID(eventId.slice('evt_'.length)).toLowerCase();

/** When the event store wrote these events, Unix milliseconds by UUID. They are among the latest. */
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
