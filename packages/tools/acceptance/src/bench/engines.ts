import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DomainMessage } from '@cpg/contracts';
import { type BrokerProcess, NoApacheKafka, startApacheKafka } from '@cpg/embedded-kafka/apache';
import { connectEventStore, startRelay } from '@cpg/event-sourcing';
import { createLogger } from '@cpg/platform';
import { createKafka, createPublisher } from '@cpg/platform/kafka';
import { createPool } from '@cpg/platform/postgres';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { type Stack, startStack } from '../harness/stack.ts';
import { durableInserts } from './durable-inserts.ts';
import { atLeast, both, rate, type Row } from './report.ts';
import { oneByOne, sustained, type Throughput, type Timings, timingsOf } from './timings.ts';

const WRITERS = 32;
const FOR_MS = 8_000;
const MESSAGES = 100_000;
const BATCH = 100;
const SENDERS = 8;

/** Measures the embedded engines with the clients that the services use. The baseline is plain inserts into the same
 *  PostgreSQL. Measures the relay on Apache Kafka too, where Java and Maven are there. */
export const engines = async (): Promise<Row[]> => {
  const stack = await startStack();
  try {
    console.log(`baseline: durable inserts by ${WRITERS} connections`);
    const insert = await durableInserts(stack, WRITERS);
    const inserts = (perSecond: number) => ({
      text: `pg inserts ${rate(insert.many.perSecond)}`,
      ratio: perSecond / insert.many.perSecond,
    });
    console.log('EventStoreDB');
    const store = await eventStore(stack.eventstoreUrl);
    console.log('Kafka');
    const kafka = await broker(stack.kafkaBrokers);
    console.log('relay');
    const embedded = await relayLatency(stack, stack.kafkaBrokers);
    const apache = await onApacheKafka((brokers) => relayLatency(stack, brokers));
    return [
      {
        measure: `EventStoreDB: durable appends of one event, ${WRITERS} writers`,
        ...reached(store.appends.perSecond, 4_000),
        baseline: inserts(store.appends.perSecond),
      },
      { measure: 'their latency, median and p99', measured: both(store.appends) },
      { measure: 'EventStoreDB: $all, catching up', ...reached(store.caughtUpPerSecond, 10_000) },
      {
        measure: `Kafka: 1-KB messages in, batches of ${BATCH}`,
        ...reached(kafka.producedPerSecond, 20_000),
        baseline: inserts(kafka.producedPerSecond),
      },
      { measure: 'Kafka: 1-KB messages out', ...reached(kafka.consumedPerSecond, 20_000) },
      ...relayRows('the embedded Kafka', embedded),
      ...relayRows('Apache Kafka', apache),
    ];
  } finally {
    await stack.stop();
  }
};

const relayRows = (name: string, latency: RelayLatency | string): Row[] => {
  if (typeof latency === 'string') return [{ measure: `relay on ${name}`, measured: latency }];
  const { single, loaded } = latency;
  return [
    { measure: `relay on ${name}: append to message, median and p99`, measured: both(single) },
    {
      measure: 'the same with 16 writers: events, median and p99',
      measured: `${rate(loaded.perSecond)}, ${both(loaded)}`,
    },
  ];
};

/** Runs `work` with a new Apache Kafka, or returns why there is none. */
const onApacheKafka = async <T>(work: (brokers: string) => Promise<T>): Promise<T | string> => {
  let apache: BrokerProcess;
  try {
    apache = await startApacheKafka();
  } catch (error) {
    if (error instanceof NoApacheKafka) return `not measured: ${error.message}`;
    throw error;
  }
  try {
    return await work(apache.brokers);
  } finally {
    await apache.remove();
  }
};

const reached = (perSecond: number, goal: number) => ({
  measured: rate(perSecond),
  goal: atLeast(perSecond, goal, '/s'),
});

const eventStore = async (url: string) => {
  const client = EventStoreDBClient.connectionString(url);
  const event = () =>
    jsonEvent({
      type: 'OrderCreated',
      data: { orderId: randomUUID(), amount: '1234.56', currency: 'EUR', note: 'x'.repeat(200) },
      metadata: { $correlationId: randomUUID(), $causationId: randomUUID() },
    });
  const mark = await client.appendToStream(`mark-${randomUUID()}`, event());
  const appends = await sustained({ at: WRITERS, forMs: FOR_MS }, () =>
    client.appendToStream(`bench-${randomUUID()}`, event(), { expectedRevision: 'no_stream' }),
  );
  const began = performance.now();
  const subscription = client.subscribeToAll({ fromPosition: mark.position! });
  let left = appends.count;
  await new Promise<void>((done, fail) => {
    subscription.on('error', fail);
    subscription.on('data', () => {
      left -= 1;
      if (left === 0) done();
    });
  });
  const caughtUpPerSecond = (appends.count * 1_000) / (performance.now() - began);
  await subscription.unsubscribe();
  await client.dispose();
  return { appends, caughtUpPerSecond };
};

const broker = async (brokers: string) => {
  const kafka = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.ERROR });
  const topic = `bench-${randomUUID()}`;
  const admin = kafka.admin();
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  const consumer = kafka.consumer({ groupId: topic, maxWaitTimeInMs: 1_000 });
  await Promise.all([admin.connect(), producer.connect(), consumer.connect()]);
  await admin.createTopics({ topics: [{ topic, numPartitions: 4 }] });
  const perSecond = (sinceMs: number) => (MESSAGES * 1_000) / (performance.now() - sinceMs);

  const value = randomBytes(1_024);
  let sent = 0;
  const sendingSince = performance.now();
  const sender = async () => {
    while (sent < MESSAGES) {
      sent += BATCH;
      await producer.send({ topic, messages: Array.from({ length: BATCH }, (_, n) => ({ key: String(n), value })) });
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, sender));
  const producedPerSecond = perSecond(sendingSince);

  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  let readingSince = 0;
  let received = 0;
  await new Promise<void>((done) => {
    void consumer.run({
      eachBatch: async ({ batch }) => {
        readingSince ||= performance.now();
        received += batch.messages.length;
        if (received >= MESSAGES) done();
      },
    });
  });
  const consumedPerSecond = perSecond(readingSince);
  await Promise.all([consumer.disconnect(), producer.disconnect()]);
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
  return { producedPerSecond, consumedPerSecond };
};

const PARTITIONS = 12;
const SINGLE_EVENTS = 150;
const WARM_UP_EVENTS = 30;
/** Longer than the relay waits before it commits, so that each event is a transaction of its own. */
const BETWEEN_EVENTS_MS = 40;
const RELAY_WRITERS = 16;
const RELAY_FOR_MS = 5_000;

interface RelayLatency {
  /** One event at a time, each in its own transaction. */
  readonly single: Timings;
  /** Under continuous load, with a transaction right after the previous one. */
  readonly loaded: Throughput;
}

/** Measures the relay of the services from before the append of an event until a consumer has its message. The
 *  event store and PostgreSQL are those of `stack`; Kafka is at `brokers`. */
const relayLatency = async (stack: Stack, brokers: string): Promise<RelayLatency> => {
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
  const loaded = await sustained({ at: RELAY_WRITERS, forMs: RELAY_FOR_MS }, relayed);

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
