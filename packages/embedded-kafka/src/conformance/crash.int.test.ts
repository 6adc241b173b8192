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
import { type RawClient, commitOffset, onConnection, patiently } from '../testing/raw-client.ts';
import {
  type ProducerId,
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
} from '../testing/transaction-client.ts';

/** On a busy machine the real broker takes its time. */
const RETRIES = 200;

const isReal = process.env.KAFKA_BROKERS !== undefined;
let broker: BrokerProcess;
beforeAll(async () => {
  broker = await (isReal ? startApacheKafka(SHORT_SESSION) : startEmbeddedKafka());
}, 60_000);
afterAll(() => broker.remove());

/** For this long the real broker's own past is in its way when it starts again. */
const SHORT_SESSION = { 'broker.session.timeout.ms': '2000', 'broker.heartbeat.interval.ms': '200' };

const killed = async () => {
  await broker.kill();
  await broker.start();
};

/** The real broker is killed where it counts most: it takes seconds to start again. */
const killedIfQuick = async () => {
  if (!isReal) await killed();
};

/** Those that were open before died with the broker. */
const connected = <T>(act: (client: RawClient) => Promise<T>): Promise<T> => onConnection(broker.brokers, act);

test('killed between any two steps, it knows what it had acknowledged', async () => {
  const kafka = clientOf(broker.brokers, RETRIES);
  const admin = kafka.admin();
  await admin.connect();
  const topic = await newTopic(admin);
  // Not long ago, or the real broker forgets the producer when it starts again.
  const idempotent = { producerId: 1_000, epoch: 0, timestamp: Date.now() };
  const send = (sequence: number) =>
    connected((client) =>
      patiently(() => sendBatch(client, topic, batchOf([`m${sequence}`], { ...idempotent, sequence }))),
    );
  expect(await send(0)).toEqual({ error: 0, baseOffset: 0 });
  await killedIfQuick();
  expect(await send(0)).toEqual({ error: 0, baseOffset: 0 });
  expect(await send(1)).toEqual({ error: 0, baseOffset: 1 });

  const groupId = newName('group');
  expect(await commitOffset(broker.brokers, groupId, topic, 2)).toBe(0);
  const old = await connected((client) => initProducer(client, groupId));
  await killedIfQuick();
  const producer = await connected((client) => initProducer(client, groupId));
  expect(producer).toMatchObject({ producerId: old.producerId, epoch: old.epoch + 1 });
  const add = (who: ProducerId) => connected((client) => addPartitions(client, who, topic));
  const write = (who: ProducerId, sequence: number, value: string) =>
    connected((client) => sendInTransaction(client, who, topic, { sequence, values: [value] }));
  const end = (who: ProducerId) => connected((client) => endTransaction(client, who, true));
  await killedIfQuick();
  expect(await add(producer)).toEqual([0]);
  await killedIfQuick();
  expect(await write(producer, 0, 'in')).toMatchObject({ error: 0, baseOffset: 2 });
  await killed();
  expect(await send(1)).toEqual({ error: 0, baseOffset: 1 });
  expect(await write(producer, 0, 'in')).toMatchObject({ error: 0, baseOffset: 2 });
  expect(await write(producer, 1, 'it')).toMatchObject({ error: 0, baseOffset: 3 });
  expect(await add(old)).toEqual([47]);
  expect(await end(producer)).toBe(0);
  await killed();
  expect(await end(producer)).toBe(0);
  const [offsets] = await admin.fetchOffsets({ groupId, topics: [topic] });
  expect(offsets!.partitions[0]!.offset).toBe('2');
  expect(await readValues(kafka, topic, 4)).toEqual(['m0', 'm1', 'in', 'it']);
  await admin.disconnect();
}, 120_000);

test('killed and restarted in the middle of the work, it leaves producers and consumers to go on by themselves', async () => {
  const kafka = clientOf(broker.brokers, RETRIES);
  const admin = kafka.admin();
  await admin.connect();
  const topic = await newTopic(admin, 2);
  const producer = await producerOf(kafka, { idempotent: true });
  const { consumer, received } = await follow(kafka, topic);
  const values = Array.from({ length: 40 }, (_, n) => String(n));
  let back: Promise<void> = Promise.resolve();
  for (const value of values) {
    if (value === '10') {
      await until(() => received.length > 0); // kafkajs may wait for ever for a group that it was about to join
      back = broker.kill().then(broker.start);
    }
    if (value === '30') back = back.then(broker.stop).then(broker.start);
    await producer.send({ topic, messages: [{ key: value, value }] });
  }
  await back;
  const seen = () => new Set(received.map(({ value }) => String(value)));
  await until(() => seen().size === values.length);
  await disconnectAll(producer, consumer, admin);
  // At least once for the reader, but once in the log.
  const stored = await readMessages(kafka, topic, values.length);
  expect(stored.map(({ value }) => Number(value)).sort((a, b) => a - b)).toEqual(values.map(Number));
}, 120_000);
