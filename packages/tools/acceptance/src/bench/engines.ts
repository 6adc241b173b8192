import { randomBytes, randomUUID } from 'node:crypto';
import { type BrokerProcess, NoApacheKafka, startApacheKafka } from '@cpg/embedded-kafka/apache';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { startStack } from '../harness/stack.ts';
import { durableInserts } from './durable-inserts.ts';
import { type RelayLatency, relayLatency } from './relay.ts';
import { atLeast, both, rate, type Row } from './report.ts';
import { sustained } from './timings.ts';

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
