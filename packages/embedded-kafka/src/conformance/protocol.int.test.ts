import type { Admin } from 'kafkajs';
import { batchOf, sealed, sendBatch } from '../testing/batches.ts';
import { type Cluster, newName, newTopic, readValues, startCluster, until } from '../testing/cluster.ts';
import { fetchFrom } from '../testing/fetch-client.ts';
import { RawClient } from '../testing/raw-client.ts';

let cluster: Cluster;
let admin: Admin;
let client: RawClient;
beforeAll(async () => {
  cluster = await startCluster();
  admin = cluster.client.admin();
  await admin.connect();
});
afterAll(async () => {
  await admin.disconnect();
  await cluster.stop();
});
beforeEach(async () => {
  client = await RawClient.connect(cluster.brokers);
});
afterEach(() => client.close());

const [PRODUCE, LIST_OFFSETS, METADATA, API_VERSIONS, INIT_PRODUCER_ID] = [0, 2, 3, 18, 22];

describe('what is spoken', () => {
  test.each([0, 1, 2, 3])('version %i of ApiVersions is answered', async (version) => {
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

  test('to a version of ApiVersions from the future the answer is in version 0, with those that are spoken', async () => {
    const response = await client.request(API_VERSIONS, 99, () => {}, true);
    expect(response.int16()).toBe(35);
    const ranges = response.array(() => [response.int16(), response.int16(), response.int16()]);
    expect(ranges.find(([key]) => key === API_VERSIONS)![1]).toBe(0);
    expect(response.remaining).toBe(0);
  });

  test('an API that is not there ends the connection', async () => {
    client.send(999, 0, () => {});
    await client.closed;
  });
});

describe('a connection', () => {
  test('gets its answers in the order of its requests, a waiting fetch among them', async () => {
    const topic = await newTopic(admin);
    const fetched = fetchFrom(client, topic, 0, { maxWaitMs: 300, minBytes: 1_000_000 });
    const listed = client.request(METADATA, 1, (body) => body.array([topic], body.string));
    await Promise.all([fetched, listed]);
    expect(client.answered).toEqual([1, 2]);
  });

  test('may have many appends under way, which are stored in their order', async () => {
    const topic = await newTopic(admin);
    const sent = Array.from({ length: 30 }, (_, n) => sendBatch(client, topic, batchOf([`m${n}`])));
    expect((await Promise.all(sent)).map(({ baseOffset }) => baseOffset)).toEqual(sent.map((_, n) => n));
  });

  test.each([
    ['ends in the middle', Buffer.from([0, 0, 0, 6, 0, 3, 0, 1, 0, 0])],
    ['has a negative length', Buffer.from([0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
    ['is announced larger than allowed', Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])],
    ['claims an array longer than itself', metadataRequest([0x7f, 0xff, 0xff, 0xff])],
    ['claims a string longer than itself', metadataRequest([0, 0, 0, 1, 0x7f, 0xff])],
    ['speaks another protocol', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ])('whose request %s is closed, and no other', async (_, bytes) => {
    const other = await RawClient.connect(cluster.brokers);
    client.sendBytes(bytes);
    await client.closed;
    const answer = await other.request(API_VERSIONS, 0, () => {});
    expect(answer.int16()).toBe(0);
    other.close();
  });

  test('may bring its requests in pieces', async () => {
    for (const byte of metadataRequest([0, 0, 0, 0])) client.sendBytes(Buffer.from([byte]));
    await expect(client.request(API_VERSIONS, 0, () => {}).then((response) => response.int16())).resolves.toBe(0);
    await until(() => client.answered.length === 2);
  });
});

describe('a batch', () => {
  test('with a wrong checksum is refused and not stored', async () => {
    const topic = await newTopic(admin);
    const damaged = batchOf(['x']);
    damaged[damaged.length - 2]! ^= 1;
    expect(await sendBatch(client, topic, damaged)).toMatchObject({ error: 2 });
    expect(await endOf(topic)).toBe('0');
  });

  test.each([
    ['of the format before the last', () => withMagic(1), 87],
    ['that a control record pretends to be', () => sealed(batchOf(['x'], { attributes: 0x20 })), 87],
    ['behind another one', () => Buffer.concat([batchOf(['x']), batchOf(['y'])]), 87],
    ['that is not there', () => Buffer.alloc(0), 87],
  ])('%s is refused', async (_, make, error) => {
    expect(await sendBatch(client, await newTopic(admin), make())).toMatchObject({ error });
  });

  test('for a topic or partition that is not there is refused', async () => {
    expect(await sendBatch(client, newName('topic'), batchOf(['x']))).toMatchObject({ error: 3, baseOffset: -1 });
  });

  test('comes back byte by byte, but for its place in the log', async () => {
    const topic = await newTopic(admin);
    await sendBatch(client, topic, batchOf(['a', 'b']));
    const batch = batchOf(['c', 'd', 'e']);
    await sendBatch(client, topic, Buffer.from(batch));
    const { records } = await fetchFrom(client, topic, 3);
    expect(records.readBigInt64BE(0)).toBe(2n);
    expect(records.subarray(16)).toEqual(batch.subarray(16));
  });
});

describe('an idempotent producer', () => {
  // A broker that has just started may answer that its ids are still to be loaded.
  const newProducerId = async (): Promise<number> => {
    const response = await client.request(INIT_PRODUCER_ID, 1, (body) => body.string(null).int32(1000));
    response.int32();
    return response.int16() === 14 ? newProducerId() : response.int64();
  };

  test('gets an id that nobody else has', async () => {
    const ids = [await newProducerId(), await newProducerId(), await newProducerId()];
    expect(new Set(ids).size).toBe(3);
    expect(Math.min(...ids)).toBeGreaterThanOrEqual(0);
  });

  test('that sends a batch again gets the first answer again, up to the fifth batch back', async () => {
    const topic = await newTopic(admin);
    const producerId = await newProducerId();
    const batch = (sequence: number) => batchOf([`m${sequence}`, 'x'], { producerId, epoch: 0, sequence });
    for (const n of [0, 1, 2, 3, 4, 5]) await sendBatch(client, topic, batch(2 * n));
    expect(await sendBatch(client, topic, batch(10))).toEqual({ error: 0, baseOffset: 10 });
    expect(await sendBatch(client, topic, batch(2))).toEqual({ error: 0, baseOffset: 2 });
    expect(await endOf(topic)).toBe('12');
    // The sixth batch back is forgotten: it can only be a mistake.
    expect((await sendBatch(client, topic, batch(0))).error).not.toBe(0);
    expect(await endOf(topic)).toBe('12');
  });

  test('that sends the same batch twice at once has it stored once', async () => {
    const topic = await newTopic(admin);
    const producerId = await newProducerId();
    const send = () => sendBatch(client, topic, batchOf(['once'], { producerId, epoch: 0, sequence: 0 }));
    expect(await Promise.all([send(), send()])).toEqual([
      { error: 0, baseOffset: 0 },
      { error: 0, baseOffset: 0 },
    ]);
    expect(await readValues(cluster.client, topic, 1)).toEqual(['once']);
  });

  test('that leaves out a batch is refused until it comes', async () => {
    const topic = await newTopic(admin);
    const producerId = await newProducerId();
    const batch = (sequence: number) => batchOf(['m'], { producerId, epoch: 0, sequence });
    await sendBatch(client, topic, batch(0));
    expect(await sendBatch(client, topic, batch(2))).toMatchObject({ error: 45 });
    expect(await sendBatch(client, topic, batch(1))).toEqual({ error: 0, baseOffset: 1 });
    expect(await sendBatch(client, topic, batch(2))).toEqual({ error: 0, baseOffset: 2 });
  });

  test('of an older epoch is refused, and a newer one starts at 0', async () => {
    const topic = await newTopic(admin);
    const producerId = await newProducerId();
    const batch = (epoch: number, sequence: number) => batchOf(['m'], { producerId, epoch, sequence });
    await sendBatch(client, topic, batch(0, 0));
    expect(await sendBatch(client, topic, batch(1, 5))).toMatchObject({ error: 45 });
    expect(await sendBatch(client, topic, batch(1, 0))).toEqual({ error: 0, baseOffset: 1 });
    expect(await sendBatch(client, topic, batch(0, 1))).toMatchObject({ error: 47 });
  });
});

describe('a fetch', () => {
  test('beyond the end and before the start is out of range', async () => {
    const topic = await newTopic(admin);
    await sendBatch(client, topic, batchOf(['a', 'b']));
    expect(await fetchFrom(client, topic, 3)).toMatchObject({ error: 1 });
    await admin.fetchTopicOffsets(topic);
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: '1' }] });
    expect(await fetchFrom(client, topic, 0)).toMatchObject({ error: 1 });
  });

  test('of what is not there is told so at once', async () => {
    expect(await fetchFrom(client, newName('topic'), 0, { maxWaitMs: 20_000 })).toMatchObject({ error: 3 });
  });

  test('at the end waits for the next batch, not for its time to be over', async () => {
    const topic = await newTopic(admin);
    const waiting = fetchFrom(client, topic, 0, { maxWaitMs: 20_000 });
    const other = await RawClient.connect(cluster.brokers);
    await sendBatch(other, topic, batchOf(['news']));
    expect((await waiting).records.length).toBeGreaterThan(0);
    other.close();
  });

  test('that asks for more bytes than there are waits for them', async () => {
    const topic = await newTopic(admin);
    const one = batchOf(['x'.repeat(50)]).length;
    const waiting = fetchFrom(client, topic, 0, { maxWaitMs: 20_000, minBytes: 2 * one });
    const other = await RawClient.connect(cluster.brokers);
    await sendBatch(other, topic, batchOf(['x'.repeat(50)]));
    await sendBatch(other, topic, batchOf(['y'.repeat(50)]));
    expect((await waiting).records).toHaveLength(2 * one);
    other.close();
  });

  test('never brings more than one batch beyond its limit', async () => {
    const topic = await newTopic(admin);
    const size = batchOf(['x'.repeat(100)]).length;
    for (let n = 0; n < 5; n += 1) await sendBatch(client, topic, batchOf(['x'.repeat(100)]));
    const { records } = await fetchFrom(client, topic, 0, { maxBytes: 3 * size });
    expect(records.subarray(0, 3 * size).length).toBe(3 * size);
    expect(records.length).toBeLessThan(4 * size);
  });
});

test('a topic name that is not allowed is refused where it would be made', async () => {
  const response = await client.request(METADATA, 4, (body) => body.array(['no name'], body.string).boolean(true));
  response.int32();
  response.array(() => [response.int32(), response.string(), response.int32(), response.nullableString()]);
  response.nullableString();
  response.int32();
  expect(response.array(() => response.int16())[0]).toBe(17);
});

test('the end and the start of a log are told by all versions', async () => {
  const topic = await newTopic(admin);
  await sendBatch(client, topic, batchOf(['a', 'b']));
  for (const version of [1, 2, 3, 4, 5]) {
    const response = await client.request(LIST_OFFSETS, version, (body) => {
      body.int32(-1);
      if (version >= 2) body.int8(0);
      body.array([topic], (name) =>
        body.string(name).array([-1], (time) => {
          body.int32(0);
          if (version >= 4) body.int32(-1);
          body.int64(time);
        }),
      );
    });
    if (version >= 2) response.int32();
    response.array(() => {
      response.string();
      response.array(() => {
        expect([response.int32(), response.int16(), response.int64(), response.int64()]).toEqual([0, 0, -1, 2]);
        if (version >= 4) response.int32();
      });
    });
    expect(response.remaining).toBe(0);
  }
});

const endOf = async (topic: string) => (await admin.fetchTopicOffsets(topic))[0]!.offset;

const withMagic = (magic: number): Buffer => {
  const batch = batchOf(['x']);
  batch[16] = magic;
  return batch;
};

/** A Metadata request of version 1 whose body is `body`. */
function metadataRequest(body: number[]): Buffer {
  const header = [0, 3, 0, 1, 0, 0, 0, 1, 0xff, 0xff];
  return Buffer.from([0, 0, 0, header.length + body.length, ...header, ...body]);
}
