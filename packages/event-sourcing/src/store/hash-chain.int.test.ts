import { startEventStore } from '@cpg/embedded-eventstore';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger, newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { verifyHashChains } from './hash-chain.ts';
import { connectEventStore } from './connect.ts';
import { METADATA } from '../testing/metadata.ts';
import { eventHash, genesisHash, type LogPosition, seal } from './recorded.ts';
import { append, tombstone } from './append.ts';

const closing: (() => unknown)[] = [];
let client: EventStoreDBClient;
let database: Pool;
let serial = 0;

beforeAll(async () => {
  const made = await testDatabase();
  const server = await startEventStore({ databaseUrl: made.url, port: 0 });
  client = connectEventStore(server.url);
  database = createPool({ url: made.url, name: 'chain-test', log: createLogger({ name: 'test', level: 'silent' }) });
  closing.push(
    () => client.dispose(),
    () => server.stop(),
    () => database.end(),
    () => made.drop(),
  );
});

afterAll(async () => {
  for (const close of closing) await close();
});

const counted = (n: number) => ({ type: 'Counted', data: { n, at: '2026-01-31T12:00:00.000Z' } });

/** Writes a stream of chained events. No other stream's name starts like its name. */
const chain = async (length: number): Promise<string> => {
  const stream = `chain${(serial += 1)}-x`;
  await extend(stream, { from: 0, to: length });
  return stream;
};
const extend = (stream: string, { from, to }: { from: number; to: number }) => {
  let previousHash = genesisHash(stream);
  const events = Array.from({ length: to }, (_, revision) => {
    const event = counted(revision);
    const metadata = { ...METADATA, previousHash, salt: String(revision) };
    const sealed = seal({ stream, revision, id: idOf(stream, revision), event, metadata });
    previousHash = sealed.metadata.hash;
    return sealed;
  });
  return append(client, stream, events.slice(from), from - 1);
};

/** The same id for the same event, however often the stream is extended. */
const ids = new Map<string, string>();
const idOf = (stream: string, revision: number): string => {
  const key = `${stream} ${revision}`;
  ids.set(key, ids.get(key) ?? newId('event'));
  return ids.get(key)!;
};

const verify = (...prefixes: string[]) => verifyHashChains(client, { prefixes, signal: new AbortController().signal });
const rewrite = (stream: string, revision: number, column: 'data' | 'metadata', from: string, to: string) =>
  database.query(
    `update eventstore.event set ${column} = convert_to(replace(convert_from(${column}, 'utf8'), $3, $4), 'utf8')
     where stream = $1 and revision = $2`,
    [stream, revision, from, to],
  );

test('finds no fault in intact chains, tombstoned streams included', async () => {
  const streams = [await chain(3), await chain(1), await chain(5)];
  await tombstone(client, streams[1]!);
  const { events, faults, shown } = await verify(...streams);
  expect({ faults, shown }).toEqual({ faults: 0, shown: [] });
  expect(events).toBeGreaterThanOrEqual(8);
});

test('reports a changed event and no other', async () => {
  const stream = await chain(4);
  await rewrite(stream, 1, 'data', '"n":1', '"n":7');
  expect(await verify(stream)).toMatchObject({
    events: 4,
    faults: 1,
    shown: [{ stream, revision: 1, fault: 'its hash does not match its content' }],
  });
});

test.each([
  ['actor', '"actor":"a"', '"actor":"key:b"'],
  ['request', '"requestId":"r"', '"requestId":"s"'],
  ['cause', '"$causationId":"r"', '"$causationId":"s"'],
])('reports that the %s of an event was changed', async (_, from, to) => {
  const stream = await chain(2);
  await rewrite(stream, 1, 'metadata', from, to);
  expect(await verify(stream)).toMatchObject({
    faults: 1,
    shown: [{ stream, revision: 1, fault: 'its hash does not match its content' }],
  });
});

test('reports a hash of a version that it cannot check', async () => {
  const stream = await chain(1);
  await rewrite(stream, 0, 'metadata', '"hashVersion":2', '"hashVersion":3');
  const fault = 'its hash has version 3, and this program checks version 2';
  expect(await verify(stream)).toMatchObject({ faults: 1, shown: [{ stream, revision: 0, fault }] });
});

test.each([0, 2])('reports that event %i was removed', async (revision) => {
  const stream = await chain(4);
  await database.query('delete from eventstore.event where stream = $1 and revision = $2', [stream, revision]);
  const fault = `the preceding event ${revision} is missing`;
  expect(await verify(stream)).toMatchObject({
    events: 3,
    faults: 1,
    shown: [{ stream, revision: revision + 1, fault }],
  });
});

test('reports the event after one that was changed together with its hash', async () => {
  const stream = await chain(3);
  const first = {
    stream,
    revision: 0,
    id: idOf(stream, 0),
    metadata: { ...METADATA, previousHash: genesisHash(stream), salt: '0' },
  };
  const [hash, changed] = [0, 9].map((n) => eventHash({ ...first, event: counted(n) }));
  await rewrite(stream, 0, 'data', '"n":0', '"n":9');
  await rewrite(stream, 0, 'metadata', hash!, changed!);
  expect(await verify(stream)).toMatchObject({
    events: 3,
    faults: 1,
    shown: [{ stream, revision: 1, fault: 'its previous hash does not match the preceding event' }],
  });
});

test('reports an invalid event and verifies the rest', async () => {
  const stream = await chain(3);
  await rewrite(stream, 1, 'metadata', '"hash"', '"hush"');
  expect(await verify(stream)).toMatchObject({
    events: 3,
    faults: 1,
    shown: [{ stream, revision: 1, fault: 'it is not a valid event' }],
  });
});

test('verifies more streams than the cache can hold', async () => {
  const streams = [await chain(1), await chain(1), await chain(1)];
  for (const stream of streams) await extend(stream, { from: 1, to: 2 });
  const options = { prefixes: streams, signal: new AbortController().signal, cachedStreams: 1 };
  expect(await verifyHashChains(client, options)).toMatchObject({ events: 6, faults: 0 });
  await database.query('delete from eventstore.event where stream = $1 and revision = 0', [streams[0]]);
  expect(await verifyHashChains(client, options)).toMatchObject({
    shown: [{ stream: streams[0], revision: 1, fault: 'the preceding event 0 is missing' }],
  });
});

describe('since a position', () => {
  const verifySince = async (since: LogPosition | null, streams: string[], more: { cachedStreams?: number } = {}) =>
    verifyHashChains(client, { prefixes: streams, since, signal: new AbortController().signal, ...more });

  test('verifies the streams that changed, each from its first event, and no others', async () => {
    const [quiet, changed] = [await chain(3), await chain(3)];
    const streams = [quiet, changed, 'chain-new'];
    const { position } = await verifySince(null, streams);
    expect(await verifySince(position, streams)).toMatchObject({ events: 0, faults: 0, position });

    await extend(changed, { from: 3, to: 5 });
    expect(await verifySince(position, streams)).toMatchObject({ events: 2, faults: 0 });
    await rewrite(quiet, 1, 'data', '"n":1', '"n":7');
    await rewrite(changed, 1, 'data', '"n":1', '"n":7');
    const fault = { stream: changed, revision: 1, fault: 'its hash does not match its content' };
    expect(await verifySince(position, streams)).toMatchObject({ events: 2, faults: 1, shown: [fault] });
    await database.query('delete from eventstore.event where stream = $1 and revision < 2', [changed]);
    const missing = { stream: changed, revision: 2, fault: 'the preceding event 0 is missing' };
    expect(await verifySince(position, streams)).toMatchObject({ events: 2, faults: 1, shown: [missing] });
  });

  test('counts a fault once however often the stream leaves the cache', async () => {
    const streams = [await chain(2), await chain(2)];
    const { position } = await verifySince(null, streams);
    for (const end of [3, 4]) for (const stream of streams) await extend(stream, { from: end - 1, to: end });
    await rewrite(streams[0]!, 0, 'data', '"n":0', '"n":7');
    expect(await verifySince(position, streams, { cachedStreams: 1 })).toMatchObject({ events: 4, faults: 1 });
  });

  test('finds no fault in a stream that was deleted since', async () => {
    const stream = await chain(3);
    const { position } = await verifySince(null, [stream]);
    await extend(stream, { from: 3, to: 4 });
    await tombstone(client, stream);
    expect(await verifySince(position, [stream])).toMatchObject({ faults: 0 });
  });
});
