import { gzipSync } from 'node:zlib';
import { AT } from '../records/batch.ts';
import { crc32c } from '../records/crc32c.ts';
import { type BatchOptions, batchOf, batchWith, recordOf, recordsOf, sendBatch } from '../testing/batches.ts';
import { type Cluster, newTopic, startCluster } from '../testing/cluster.ts';
import { fetchFrom } from '../testing/fetch-client.ts';
import { RawClient } from '../testing/raw-client.ts';

let cluster: Cluster;
let client: RawClient;
let topic: string;
/** The end of the topic before the test. */
let end: number;
beforeAll(async () => {
  cluster = await startCluster();
  topic = await newTopic(cluster.admin);
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  client = await RawClient.connect(cluster.brokers);
  end = (await fetchFrom(client, topic, 0)).highWatermark;
});
afterEach(() => client.close());

const [INVALID_TIMESTAMP, INVALID_RECORD] = [32, 87];
const [MINUTE, HOUR] = [60_000, 3_600_000];
const THREE = recordsOf(['a', 'b', 'c']);

/** The topic has stored nothing: the next batch gets the next offset, and consumers can read it. */
const expectNothingStored = async () => {
  expect(await sendBatch(client, topic, batchOf(['next']))).toEqual({ error: 0, baseOffset: end });
  expect(await fetchFrom(client, topic, end)).toMatchObject({ error: 0, highWatermark: end + 1, offsets: [end] });
};

test.each<[string, Buffer, BatchOptions]>([
  ['more records than it has', THREE, { count: 5 }],
  ['2,147,483,647 records', THREE, { count: 0x7fffffff }],
  ['fewer records than it has', THREE, { count: 2 }],
  ['no records', Buffer.alloc(0), { count: 0 }],
  ['a negative number of records', THREE, { count: -1, lastOffsetDelta: 2 }],
  ['another last offset', THREE, { count: 3, lastOffsetDelta: 4 }],
  ['a base offset', THREE, { count: 3, baseOffset: 7 }],
  ['a record longer than the batch', recordOf('a', { lengthError: 5 }), {}],
  ['a record shorter than its fields', recordOf('a', { lengthError: -2 }), {}],
  ['a value longer than the batch', recordOf('a', { valueLengthError: 99 }), {}],
  ['missing headers', recordOf('a', { headers: 3 }), {}],
  ['a negative number of headers', recordOf('a', { headers: -1 }), {}],
])('a batch that claims %s is refused', async (_, records, options) => {
  expect(await sendBatch(client, topic, batchWith(records, options))).toMatchObject({ error: INVALID_RECORD });
  await expectNothingStored();
});

describe('a batch compressed with gzip', () => {
  const options = { attributes: 1, timestamp: Date.now() };

  test('is stored', async () => {
    expect(await sendBatch(client, topic, batchWith(gzipSync(THREE), { ...options, count: 3 }))).toMatchObject({
      error: 0,
    });
    expect(await sendBatch(client, topic, batchOf(['next']))).toEqual({ error: 0, baseOffset: end + 3 });
  });

  test.each([2, 5])('that claims %i records instead of 3 is refused', async (count) => {
    expect(await sendBatch(client, topic, batchWith(gzipSync(THREE), { ...options, count }))).toMatchObject({
      error: INVALID_RECORD,
    });
    await expectNothingStored();
  });

  test('from the far future is refused', async () => {
    const timestamp = Date.now() + 2 * HOUR;
    expect(
      await sendBatch(client, topic, batchWith(gzipSync(THREE), { ...options, timestamp, count: 3 })),
    ).toMatchObject({ error: INVALID_TIMESTAMP });
    await expectNothingStored();
  });

  test('is refused where it cannot be decompressed', async () => {
    const sent = await sendBatch(client, topic, batchWith(Buffer.from('neither of these'), options));
    expect(sent).toMatchObject({ baseOffset: -1 });
    expect(sent.error).not.toBe(0); // Apache Kafka: UNKNOWN_SERVER_ERROR
    await expectNothingStored();
  });
});

test.each<[string, () => Buffer]>([
  ['two hours', () => batchOf(['x'], { timestamp: Date.now() + 2 * HOUR })],
  ['centuries', () => batchOf(['x'], { timestamp: Date.now() * 1_000 })],
  ['two hours for its last record', () => batchWith(recordOf('x', { timestampDelta: 2 * HOUR }), recent())],
])('a batch that is ahead of the time by %s is refused', async (_, make) => {
  expect(await sendBatch(client, topic, make())).toMatchObject({ error: INVALID_TIMESTAMP });
  await expectNothingStored();
});

const recent = () => ({ timestamp: Date.now() });

test.each([
  ['an hour less a minute ahead', () => Date.now() + HOUR - MINUTE],
  ['from 1970', () => 0],
  ['without a time', () => -1],
])('a batch %s is stored', async (_, time) => {
  expect(await sendBatch(client, topic, batchOf(['x'], { timestamp: time() }))).toEqual({ error: 0, baseOffset: end });
});

test('a topic sets how far ahead of the time its records may be', async () => {
  const strict = await newTopic(cluster.admin, 1, { 'message.timestamp.after.max.ms': String(MINUTE) });
  const ahead = (ms: number) => batchOf(['x'], { timestamp: Date.now() + ms });
  expect(await sendBatch(client, strict, ahead(2 * MINUTE))).toMatchObject({ error: INVALID_TIMESTAMP });
  expect(await sendBatch(client, strict, ahead(MINUTE / 2))).toMatchObject({ error: 0 });
});

test('a topic sets how old its records may be', async () => {
  const strict = await newTopic(cluster.admin, 1, { 'message.timestamp.before.max.ms': String(MINUTE) });
  const old = (ms: number) => batchOf(['x'], { timestamp: Date.now() - ms });
  expect(await sendBatch(client, strict, old(2 * MINUTE))).toMatchObject({ error: INVALID_TIMESTAMP });
  expect(await sendBatch(client, strict, old(MINUTE / 2))).toMatchObject({ error: 0 });
});

test.each([
  ['too late', 2 * HOUR],
  ['too early', -2 * HOUR],
])('a largest timestamp that is %s in the header is corrected', async (_, error) => {
  const timestamp = Date.now();
  const batch = batchWith(recordOf('x', { timestampDelta: 1 }), { timestamp, maxTimestamp: timestamp + error });
  expect(await sendBatch(client, topic, batch)).toMatchObject({ error: 0 });
  const { records } = await fetchFrom(client, topic, end);
  expect(records.readBigInt64BE(AT.maxTimestamp)).toBe(BigInt(timestamp + 1));
  expect(records.readUInt32BE(AT.crc)).toBe(crc32c(records, AT.attributes));
});
