import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DomainMessage } from '@cpg/contracts';
import { connectEventStore, startRelay } from '@cpg/event-sourcing';
import { createKafka, createPublisher } from '@cpg/platform/kafka';
import { createPool } from '@cpg/platform/postgres';
import { createLogger } from '@cpg/platform';
import { jsonEvent } from '@eventstore/db-client';
import type { Stack } from '../harness/stack.ts';
import { oneByOne, sustained, type Throughput, type Timings, timingsOf } from './timings.ts';

const PARTITIONS = 12;
const SINGLE_EVENTS = 150;
const WARM_UP_EVENTS = 30;
/** Longer than the relay waits before it commits, so that each event is a transaction of its own. */
const BETWEEN_EVENTS_MS = 40;
const WRITERS = 16;
const FOR_MS = 5_000;

export interface RelayLatency {
  /** One event at a time, each in its own transaction. */
  readonly single: Timings;
  /** Under continuous load, with a transaction right after the previous one. */
  readonly loaded: Throughput;
}

/** Measures the relay of the services from before the append of an event until a consumer has its message. The
 *  event store and PostgreSQL are those of `stack`; Kafka is at `brokers`. */
export const relayLatency = async (stack: Stack, brokers: string): Promise<RelayLatency> => {
  const log = createLogger({ name: 'bench', level: 'error' });
  const name = `bench_${randomUUID().replaceAll('-', '')}`;
  const pool = createPool({ url: stack.databaseUrl, name: 'bench', max: 4, log });
  await pool.query(`create schema ${name}`);
  for (const table of ['checkpoints', 'parked_streams'])
    await pool.query(`create table ${name}.${table} (like orders.${table} including all)`);
  const kafka = createKafka({ KAFKA_BROKERS: brokers.split(',') }, { clientId: 'bench', log });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: name, numPartitions: PARTITIONS }], waitForLeaders: true });
  const client = connectEventStore(stack.eventstoreUrl);
  const publisher = createPublisher(kafka, { transactionalId: name });
  const relay = startRelay({
    client,
    pool,
    databaseUrl: stack.databaseUrl,
    schema: name,
    prefixes: [`${name}-`],
    log,
    publisherFor: () => publisher,
    topic: name,
    messageOf: async ({ event }) => event!.data as unknown as DomainMessage,
  });
  const arrivals = await consumeArrivals(kafka, name);

  const relayed = async (): Promise<void> => {
    const id = randomUUID();
    const arrived = arrivals.of(id);
    const data = { id, orderid: id, time: new Date().toISOString(), data: { note: 'x'.repeat(1_000) } };
    await client.appendToStream(`${name}-${id}`, jsonEvent({ type: 'Benched', data }));
    await arrived;
  };
  await relayed();
  const single: number[] = [];
  for (let n = 0; n < WARM_UP_EVENTS + SINGLE_EVENTS; n += 1) {
    const { median } = await oneByOne(1, relayed);
    if (n >= WARM_UP_EVENTS) single.push(median);
    await sleep(BETWEEN_EVENTS_MS);
  }
  const loaded = await sustained({ at: WRITERS, forMs: FOR_MS }, relayed);

  await arrivals.stop();
  await relay.stop();
  await publisher.close();
  await client.dispose();
  await admin.deleteTopics({ topics: [name] });
  await admin.disconnect();
  await pool.query(`drop schema ${name} cascade`);
  await pool.end();
  return { single: timingsOf(single), loaded };
};

/** Consumes the topic as the services do: with `read_uncommitted`, from the leaders. */
const consumeArrivals = async (kafka: ReturnType<typeof createKafka>, topic: string) => {
  const waiting = new Map<string, () => void>();
  const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 1_000, readUncommitted: true });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  await consumer.run({
    eachBatch: async ({ batch }) => {
      for (const { value } of batch.messages) {
        const { id } = JSON.parse(String(value)) as { id: string };
        waiting.get(id)?.();
        waiting.delete(id);
      }
    },
  });
  return {
    of: (id: string) => new Promise<void>((done) => waiting.set(id, done)),
    stop: () => consumer.disconnect(),
  };
};
