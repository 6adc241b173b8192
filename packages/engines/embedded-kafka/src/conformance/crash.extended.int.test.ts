import { startApacheKafka } from '../testing/apache/server.ts';
import { batchOf, sendBatch } from '../testing/batches.ts';
import type { BrokerProcess } from '../testing/broker-process.ts';
import {
  clientOf,
  disconnectAll,
  follow,
  newName,
  newTopic,
  producerOf,
  readMessages,
  readValues,
  until,
} from '../testing/cluster.ts';
import { startEmbeddedKafka } from '../testing/embedded-process.ts';
import { type RawClient, commitOffset, onConnection, retry } from '../testing/raw-client.ts';
import {
  type ProducerId,
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
} from '../testing/transaction-client.ts';

/** Enough for a slow start of Apache Kafka on a busy machine. */
const RETRIES = 200;

const isApache = process.env.KAFKA_BROKERS !== undefined;
let broker: BrokerProcess;
beforeAll(async () => {
  broker = await (isApache ? startApacheKafka(SHORT_SESSION) : startEmbeddedKafka());
});
afterAll(() => broker.remove());

/** A restarted Apache Kafka waits until the session of its previous run is over. */
const SHORT_SESSION = { 'broker.session.timeout.ms': '2000', 'broker.heartbeat.interval.ms': '200' };

const killAndRestart = async () => {
  await broker.kill();
  await broker.start();
};

/** Skipped for Apache Kafka, which takes seconds to restart: it is killed at the most important steps only. */
const killAndRestartEmbedded = async () => {
  if (!isApache) await killAndRestart();
};

/** Opens a new connection, because a killed broker closes all of them. */
const connected = <T>(act: (client: RawClient) => Promise<T>): Promise<T> => onConnection(broker.brokers, act);

test('a broker killed between any two steps keeps what it acknowledged', async () => {
  const kafka = clientOf(broker.brokers, RETRIES);
  const admin = kafka.admin();
  await admin.connect();
  const topic = await newTopic(admin);
  // With an old timestamp, Apache Kafka would expire the producer when it restarts.
  const idempotent = { producerId: 1_000, epoch: 0, timestamp: Date.now() };
  const send = (sequence: number) =>
    connected((client) =>
      retry(() => sendBatch(client, topic, batchOf([`m${sequence}`], { ...idempotent, sequence }))),
    );
  expect(await send(0)).toEqual({ error: 0, baseOffset: 0 });
  await killAndRestartEmbedded();
  expect(await send(0)).toEqual({ error: 0, baseOffset: 0 });
  expect(await send(1)).toEqual({ error: 0, baseOffset: 1 });

  const groupId = newName('group');
  expect(await commitOffset(broker.brokers, groupId, topic, 2)).toBe(0);
  const previous = await connected((client) => initProducer(client, groupId));
  await killAndRestartEmbedded();
  const producer = await connected((client) => initProducer(client, groupId));
  expect(producer).toMatchObject({ producerId: previous.producerId, epoch: previous.epoch + 1 });
  const add = (id: ProducerId) => connected((client) => addPartitions(client, id, topic));
  const write = (id: ProducerId, sequence: number, value: string) =>
    connected((client) => sendInTransaction(client, id, topic, { sequence, values: [value] }));
  const end = (id: ProducerId) => connected((client) => endTransaction(client, id, true));
  await killAndRestartEmbedded();
  expect(await add(producer)).toEqual([0]);
  await killAndRestartEmbedded();
  expect(await write(producer, 0, 'in')).toMatchObject({ error: 0, baseOffset: 2 });
  await killAndRestart();
  expect(await send(1)).toEqual({ error: 0, baseOffset: 1 });
  expect(await write(producer, 0, 'in')).toMatchObject({ error: 0, baseOffset: 2 });
  expect(await write(producer, 1, 'it')).toMatchObject({ error: 0, baseOffset: 3 });
  expect(await add(previous)).toEqual([47]);
  expect(await end(producer)).toBe(0);
  await killAndRestart();
  expect(await end(producer)).toBe(0);
  const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
  expect(offsets!.partitions[0]!.offset).toBe('2');
  expect(await readValues(kafka, topic, 4)).toEqual(['m0', 'm1', 'in', 'it']);
  await admin.disconnect();
});

test('producers and consumers continue without help when the broker is killed and restarted', async () => {
  const kafka = clientOf(broker.brokers, RETRIES);
  const admin = kafka.admin();
  await admin.connect();
  const topic = await newTopic(admin, 2);
  const producer = await producerOf(kafka, { idempotent: true });
  const { consumer, received } = await follow(kafka, topic);
  const values = Array.from({ length: 40 }, (_, n) => String(n));
  const seen = () => new Set(received.map(({ value }) => String(value)));
  let restarted: Promise<void> = Promise.resolve();
  for (const value of values) {
    if (value === '10' || value === '30') {
      await restarted;
      restarted = (value === '10' ? broker.kill() : broker.stop()).then(broker.start);
    }
    await producer.send({ topic, messages: [{ key: value, value }] });
  }
  await restarted;
  await until(() => seen().size === values.length);
  await disconnectAll(producer, consumer, admin);
  // Consumers get messages at least once, but the log has each one exactly once.
  const stored = await readMessages(kafka, topic, values.length);
  expect(stored.map(({ value }) => Number(value)).sort((a, b) => a - b)).toEqual(values.map(Number));
}, 240_000);
