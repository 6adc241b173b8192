import type { Admin, Producer } from 'kafkajs';
import { batchOf, sendBatch } from '../testing/batches.ts';
import {
  type Cluster,
  disconnectAll,
  follow,
  newName,
  newTopic,
  producerOf,
  readValues,
  startCluster,
  until,
} from '../testing/cluster.ts';
import { type FetchOptions, fetchFrom } from '../testing/fetch-client.ts';
import { RawClient } from '../testing/raw-client.ts';
import {
  TRANSACTIONAL,
  addPartitions,
  endTransaction,
  initProducer,
  sendInTransaction,
} from '../testing/transaction-client.ts';

let cluster: Cluster;
let admin: Admin;
let plain: Producer;
let client: RawClient;
beforeAll(async () => {
  cluster = await startCluster({ transactionCheckMs: 200 });
  admin = cluster.client.admin();
  plain = await producerOf(cluster.client);
  client = await RawClient.connect(cluster.brokers);
  await admin.connect();
});
afterAll(async () => {
  client.close();
  await disconnectAll(admin, plain);
  await cluster.stop();
});

const transactional = (transactionalId = newName('tx')) =>
  producerOf(cluster.client, { transactionalId, idempotent: true, maxInFlightRequests: 1 });
const messages = (...values: string[]) => values.map((value) => ({ value }));
const committed = (topic: string, count: number) => readValues(cluster.client, topic, count);
const everything = (topic: string, count: number) =>
  readValues(cluster.client, topic, count, { readUncommitted: true });
const readCommitted = (topic: string, offset: number, options: FetchOptions = {}) =>
  fetchFrom(client, topic, offset, { ...options, readCommitted: true });

describe('a transaction', () => {
  test('is seen whole once it is committed, and until then by nobody who reads what is committed', async () => {
    const topic = await newTopic(admin, 3);
    const producer = await transactional();
    const transaction = await producer.transaction();
    const spread = [0, 1, 2].map((partition) => ({ partition, value: `p${partition}` }));
    await transaction.send({ topic, messages: spread });
    await transaction.send({ topic, messages: spread });
    expect((await everything(topic, 6)).sort()).toEqual(['p0', 'p0', 'p1', 'p1', 'p2', 'p2']);
    const reader = await follow(cluster.client, topic);
    await until(() => reader.assigned().length === 3);
    expect(await readCommitted(topic, 0)).toMatchObject({ error: 0, records: Buffer.alloc(0) });
    expect(reader.received).toEqual([]);
    await transaction.commit();
    await until(() => reader.received.length === 6);
    await disconnectAll(producer, reader.consumer);
  });

  test('that is aborted leaves no message to those who read what is committed', async () => {
    const topic = await newTopic(admin);
    const producer = await transactional();
    const aborted = await producer.transaction();
    await aborted.send({ topic, messages: messages('no', 'neither') });
    await aborted.abort();
    await plain.send({ topic, messages: messages('plain') });
    const second = await producer.transaction();
    await onceFree(() => second.send({ topic, messages: messages('yes') }));
    await second.commit();
    expect(await committed(topic, 2)).toEqual(['plain', 'yes']);
    expect(await everything(topic, 4)).toEqual(['no', 'neither', 'plain', 'yes']);
    await producer.disconnect();
  });

  test('may span topics', async () => {
    const [one, two] = [await newTopic(admin), await newTopic(admin)];
    const producer = await transactional();
    const transaction = await producer.transaction();
    await transaction.sendBatch({
      topicMessages: [
        { topic: one, messages: messages('a') },
        { topic: two, messages: messages('b') },
      ],
    });
    await transaction.commit();
    expect([await committed(one, 1), await committed(two, 1)]).toEqual([['a'], ['b']]);
    await producer.disconnect();
  });

  test('without messages is committed and aborted without further ado', async () => {
    const producer = await transactional();
    await (await producer.transaction()).commit();
    await (await producer.transaction()).abort();
    await producer.disconnect();
  });

  test('follows the one before it, and each is kept', async () => {
    const topic = await newTopic(admin);
    const client = await RawClient.connect(cluster.brokers);
    const producer = await initProducer(client, newName('tx'));
    for (let sequence = 0; sequence < 20; sequence += 1) {
      expect(await addPartitions(client, producer, topic)).toEqual([0]);
      // A message and a marker each.
      expect(await sendInTransaction(client, producer, topic, { sequence, values: [`m${sequence}`] })).toEqual({
        error: 0,
        baseOffset: 2 * sequence,
      });
      expect(await endTransaction(client, producer, sequence % 2 === 0)).toBe(0);
    }
    client.close();
    const kept = Array.from({ length: 10 }, (_, n) => `m${2 * n}`);
    expect(await committed(topic, 10)).toEqual(kept);
  });

  test('holds back what comes after it until it is decided', async () => {
    const topic = await newTopic(admin);
    const producer = await initProducer(client, newName('tx'));
    await sendBatch(client, topic, batchOf(['before']));
    await addPartitions(client, producer, topic);
    await sendInTransaction(client, producer, topic, { values: ['in', 'it'] });
    await sendBatch(client, topic, batchOf(['after']));
    expect(await readCommitted(topic, 0)).toMatchObject({ highWatermark: 4, lastStable: 1, aborted: [] });
    expect((await readCommitted(topic, 0)).offsets).toEqual([0]);
    expect((await fetchFrom(client, topic, 0)).offsets).toEqual([0, 1, 3]);
    expect(await endOffset(topic, { readCommitted: true })).toBe(1);
    expect(await endOffset(topic, {})).toBe(4);
    const waiting = await RawClient.connect(cluster.brokers);
    const decided = fetchFrom(waiting, topic, 1, { readCommitted: true, maxWaitMs: 20_000 });
    expect(await endTransaction(client, producer, true)).toBe(0);
    expect((await decided).offsets[0]).toBe(1);
    waiting.close();
    await until(async () => (await endOffset(topic, { readCommitted: true })) === 5);
    expect(await committed(topic, 4)).toEqual(['before', 'in', 'it', 'after']);
  });

  test('that is aborted is told to readers with its first offset, and ends with a marker in the log', async () => {
    const topic = await newTopic(admin);
    const producer = await initProducer(client, newName('tx'));
    await sendBatch(client, topic, batchOf(['before']));
    await addPartitions(client, producer, topic);
    await sendInTransaction(client, producer, topic, { values: ['in', 'it'] });
    await endTransaction(client, producer, false);
    await until(async () => (await readCommitted(topic, 3)).offsets.length === 1);
    const fetched = await readCommitted(topic, 0);
    expect(fetched.offsets).toEqual([0, 1, 3]);
    expect(fetched.aborted).toEqual([{ producerId: producer.producerId, firstOffset: 1 }]);
    expect((await readCommitted(topic, 3)).aborted).toHaveLength(1);
    await sendBatch(client, topic, batchOf(['after']));
    expect((await readCommitted(topic, 4)).aborted).toEqual([]);
    // Attributes: control and transactional. The key of its record: version 0, type 0 (abort).
    const marker = (await readCommitted(topic, 3)).records;
    expect(marker.readInt16BE(21)).toBe(0x30);
    expect(Number(marker.readBigInt64BE(43))).toBe(producer.producerId);
    expect(marker.subarray(61, 61 + 9).toString('hex')).toBe('200000000800000000');
  });

  test('that takes longer than its producer said is aborted, and the producer is out', async () => {
    const topic = await newTopic(admin);
    const producer = await initProducer(client, newName('tx'), 300);
    await addPartitions(client, producer, topic);
    await sendInTransaction(client, producer, topic, { values: ['late'] });
    await until(async () => (await endOffset(topic, { readCommitted: true })) === 2);
    expect((await readCommitted(topic, 0)).aborted).toHaveLength(1);
    expect(await endTransaction(client, producer, true, 1)).toBe(47);
    expect(await endTransaction(client, producer, true, 2)).toBe(90);
    expect(await sendInTransaction(client, producer, topic, { sequence: 1 })).toMatchObject({ error: 47 });
    const again = await initProducer(client, producer.transactionalId);
    expect(again).toMatchObject({ error: 0, producerId: producer.producerId });
    expect(again.epoch).toBeGreaterThan(producer.epoch);
  });
});

describe('a producer that starts under the same name', () => {
  test('keeps the id, in a later epoch', async () => {
    const name = newName('tx');
    const first = await initProducer(client, name);
    const second = await initProducer(client, name);
    expect(first).toMatchObject({ error: 0, epoch: 0 });
    expect(second).toMatchObject({ error: 0, producerId: first.producerId, epoch: 1 });
  });

  test('ends what the one before it has left open, and shuts it out', async () => {
    const topic = await newTopic(admin);
    const name = newName('tx');
    const old = await initProducer(client, name);
    await addPartitions(client, old, topic);
    await sendInTransaction(client, old, topic, { values: ['old'] });
    const successor = await initProducer(client, name);
    expect(await sendInTransaction(client, old, topic, { sequence: 1 })).toMatchObject({ error: 47 });
    expect(await addPartitions(client, old, topic, { version: 1 })).toEqual([47]);
    expect(await addPartitions(client, old, topic, { version: 2 })).toEqual([90]);
    expect(await endTransaction(client, old, true, 1)).toBe(47);
    expect(await endTransaction(client, old, true, 2)).toBe(90);
    await addPartitions(client, successor, topic);
    expect(await sendInTransaction(client, successor, topic, { values: ['new'] })).toMatchObject({ error: 0 });
    expect(await endTransaction(client, successor, true)).toBe(0);
    expect(await committed(topic, 1)).toEqual(['new']);
  });

  test('shuts out the one before it also where that was idle, or had added a partition and not yet written', async () => {
    const topic = await newTopic(admin);
    const name = newName('tx');
    const idle = await initProducer(client, name);
    const adding = await initProducer(client, name);
    expect(await addPartitions(client, adding, topic)).toEqual([0]);
    const successor = await initProducer(client, name);
    expect(await addPartitions(client, idle, topic)).toEqual([47]);
    expect(await sendInTransaction(client, adding, topic)).toMatchObject({ error: 47 });
    await addPartitions(client, successor, topic);
    expect(await sendInTransaction(client, successor, topic, { values: ['new'] })).toMatchObject({ error: 0 });
    expect(await endTransaction(client, successor, true)).toBe(0);
    expect(await committed(topic, 1)).toEqual(['new']);
  });

  test('is the only one whose messages arrive, whoever of the two is quicker', async () => {
    const topic = await newTopic(admin);
    const name = newName('tx');
    const paused = await transactional(name);
    const first = await paused.transaction();
    await first.send({ topic, messages: messages('first') });
    await first.commit();
    const open = await paused.transaction();
    await onceFree(() => open.send({ topic, messages: messages('half done') }));
    const successor = await transactional(name);
    const taken = await successor.transaction();
    await expect(open.send({ topic, messages: messages('too late') })).rejects.toMatchObject({
      type: 'INVALID_PRODUCER_EPOCH',
    });
    await expect(open.commit()).rejects.toThrow();
    await taken.send({ topic, messages: messages('second') });
    await taken.commit();
    expect(await committed(topic, 2)).toEqual(['first', 'second']);
    await disconnectAll(paused, successor);
  });
});

describe('refused is', () => {
  test('an end without a beginning, and another end than the first', async () => {
    const topic = await newTopic(admin);
    const producer = await initProducer(client, newName('tx'));
    expect(await endTransaction(client, producer, true)).toBe(48);
    await addPartitions(client, producer, topic);
    expect(await endTransaction(client, producer, true)).toBe(0);
    expect(await endTransaction(client, producer, true)).toBe(0); // the answer may have been lost
    expect(await endTransaction(client, producer, false)).toBe(48);
  });

  test('a producer id that is not of the transactional id', async () => {
    const topic = await newTopic(admin);
    const producer = await initProducer(client, newName('tx'));
    const stranger = { ...producer, producerId: producer.producerId + 1_000 };
    expect(await addPartitions(client, stranger, topic)).toEqual([49]);
    expect(await addPartitions(client, { ...producer, transactionalId: newName('tx') }, topic)).toEqual([49]);
    expect(await endTransaction(client, stranger, true)).toBe(49);
  });

  test('a partition that is not there, and all that were to be added with it', async () => {
    const topic = await newTopic(admin);
    const producer = await initProducer(client, newName('tx'));
    expect(await addPartitions(client, producer, topic, { partitions: [0, 7] })).toEqual(
      expect.arrayContaining([55, 3]),
    );
  });

  test('a time-out that is too long', async () => {
    expect(await initProducer(client, newName('tx'), 3_600_000)).toMatchObject({ error: 50 });
  });

  test('a message for a partition that was not added', async () => {
    const topic = await newTopic(admin);
    const producer = await initProducer(client, newName('tx'));
    expect(await sendInTransaction(client, producer, topic)).toMatchObject({ error: 48 });
    expect(await endOffset(topic, {})).toBe(0);
  });

  test('a plain message of a producer that is in a transaction', async () => {
    const topic = await newTopic(admin);
    const producer = await initProducer(client, newName('tx'));
    await addPartitions(client, producer, topic);
    await sendInTransaction(client, producer, topic);
    const { producerId, epoch } = producer;
    expect(await sendBatch(client, topic, batchOf(['x'], { producerId, epoch, sequence: 1 }))).toMatchObject({
      error: 48,
    });
    expect(await endTransaction(client, producer, true)).toBe(0);
  });

  test('a transactional message in a request without a transactional id', async () => {
    const topic = await newTopic(admin);
    const { producerId, epoch } = await initProducer(client, newName('tx'));
    const batch = batchOf(['x'], { producerId, epoch, sequence: 0, attributes: TRANSACTIONAL });
    expect(await sendBatch(client, topic, batch)).toMatchObject({ error: 53 });
  });
});

/** A broker that still writes the end of the transaction before refuses the next one for a moment, and kafkajs does not try again. */
const onceFree = <T>(act: () => Promise<T>): Promise<T> =>
  act().catch((error: { type?: string }) => {
    if (error.type !== 'CONCURRENT_TRANSACTIONS') throw error;
    return onceFree(act);
  });

/** The end of partition 0 by ListOffsets 2. */
const endOffset = async (topic: string, { readCommitted = false }: FetchOptions): Promise<number> => {
  const response = await client.request(2, 2, (body) => {
    body.int32(-1).int8(readCommitted ? 1 : 0);
    body.array([topic], (name) => body.string(name).array([-1], (time) => body.int32(0).int64(time)));
  });
  response.int32();
  const [offsets] = response.array(() => {
    response.string();
    return response.array(() => [response.int32(), response.int16(), response.int64(), response.int64()][3]!);
  });
  return offsets![0]!;
};
