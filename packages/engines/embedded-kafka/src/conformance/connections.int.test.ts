import { type Cluster, newTopic, startCluster, until } from '../testing/cluster.ts';
import { batchOf, sendBatch } from '../testing/batches.ts';
import { fetchFrom } from '../testing/fetch-client.ts';
import { RawClient } from '../testing/raw-client.ts';

let cluster: Cluster;
let client: RawClient;
beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  client = await RawClient.connect(cluster.brokers);
});
afterEach(() => client.close());

const [PRODUCE, METADATA, API_VERSIONS] = [0, 3, 18];

test.each([0, 1, 2, 3])('version %i of ApiVersions lists the supported versions', async (version) => {
  const flexible = version >= 3;
  const response = await client.request(
    API_VERSIONS,
    version,
    (body) => {
      if (flexible) body.string('raw').string('1.0').taggedFields();
    },
    flexible,
  );
  response.flexible = flexible;
  expect(response.int16()).toBe(0);
  const ranges = response.array(() => {
    const range = [response.int16(), response.int16(), response.int16()] as const;
    response.skipTaggedFields();
    return range;
  });
  expect(ranges.find(([key]) => key === API_VERSIONS)![1]).toBe(0);
  expect(ranges.find(([key]) => key === PRODUCE)![2]).toBeGreaterThanOrEqual(7);
  expect(ranges.every(([, min, max]) => min <= max)).toBe(true);
});

test('an unsupported version of ApiVersions gets a response of version 0 with the supported versions', async () => {
  const response = await client.request(API_VERSIONS, 99, () => {}, true);
  expect(response.int16()).toBe(35);
  const ranges = response.array(() => [response.int16(), response.int16(), response.int16()]);
  expect(ranges.find(([key]) => key === API_VERSIONS)![1]).toBe(0);
  expect(response.remaining).toBe(0);
});

test('a request for an unknown API closes the connection', async () => {
  client.send(999, 0, () => {});
  await client.closed;
});

test('a connection gets its responses in the order of the requests, even behind a waiting fetch', async () => {
  const topic = await newTopic(cluster.admin);
  const fetched = fetchFrom(client, topic, 0, { maxWaitMs: 300, minBytes: 1_000_000 });
  const listed = client.request(METADATA, 1, (body) => body.array([topic], body.string));
  await Promise.all([fetched, listed]);
  expect(client.answered).toEqual([1, 2]);
});

test('overlapping produce requests of one connection are stored in order', async () => {
  const topic = await newTopic(cluster.admin);
  const sent = Array.from({ length: 30 }, (_, n) => sendBatch(client, topic, batchOf([`m${n}`])));
  expect((await Promise.all(sent)).map(({ baseOffset }) => baseOffset)).toEqual(sent.map((_, n) => n));
});

test.each([
  ['is incomplete', Buffer.from([0, 0, 0, 6, 0, 3, 0, 1, 0, 0])],
  ['has a negative length', Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
  ['announces more bytes than allowed', Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
  ['has an array longer than itself', metadataRequest([0x7f, 0xff, 0xff, 0xff])],
  ['has a string longer than itself', metadataRequest([0, 0, 0, 1, 0x7f, 0xff])],
  ['is of another protocol', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
])('a connection whose request %s is closed, and the others stay open', async (_, bytes) => {
  const other = await RawClient.connect(cluster.brokers);
  client.sendBytes(bytes);
  await client.closed;
  const answer = await other.request(API_VERSIONS, 0, () => {});
  expect(answer.int16()).toBe(0);
  other.close();
});

test('a request may arrive byte by byte', async () => {
  for (const byte of metadataRequest([0, 0, 0, 0])) client.sendBytes(Buffer.from([byte]));
  await expect(client.request(API_VERSIONS, 0, () => {}).then((response) => response.int16())).resolves.toBe(0);
  await until(() => client.answered.length === 2);
});

/** A Metadata request of version 1 with the given body. */
function metadataRequest(body: number[]): Buffer {
  const header = [0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff];
  return Buffer.from([0, 0, 0, header.length + body.length, ...header, ...body]);
}
