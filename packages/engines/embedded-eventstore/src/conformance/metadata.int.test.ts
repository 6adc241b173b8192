import { setTimeout as sleep } from 'node:timers/promises';
import { type EventStoreDBClient, WrongExpectedVersionError } from '@eventstore/db-client';
import { collect, counted, newStream, numbersIn, range, useStore } from '../testing/jest-store.ts';

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));

const backwards = { direction: 'backwards', fromRevision: 'end' } as const;

test('the metadata that was set last is read back unchanged', async () => {
  const stream = newStream();
  expect((await client.getStreamMetadata(stream)).metadata).toBeUndefined();
  const metadata = { maxCount: 3, owner: 'orders', acl: { readRoles: ['$all'] } };
  await client.setStreamMetadata(stream, { maxCount: 9 });
  await client.setStreamMetadata(stream, metadata, { expectedRevision: 0n });
  expect((await client.getStreamMetadata(stream)).metadata).toEqual(metadata);
  expect(await collect(client.readStream(`$$${stream}`))).toHaveLength(1); // a read of a metastream returns only its last event
  const refused = client.setStreamMetadata(stream, {}, { expectedRevision: 0n });
  await expect(refused).rejects.toBeInstanceOf(WrongExpectedVersionError);
});

test('$maxCount keeps only the last events readable', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(...range(0, 10)));
  await client.setStreamMetadata(stream, { maxCount: 3 });
  expect(await numbersIn(client, stream)).toEqual([7, 8, 9]);
  expect(await numbersIn(client, stream, { fromRevision: 8n })).toEqual([8, 9]);
  expect(await numbersIn(client, stream, { fromRevision: 2n, maxCount: 2 })).toEqual([7, 8]);
  expect(await numbersIn(client, stream, backwards)).toEqual([9, 8, 7]);
  const { nextExpectedRevision } = await client.appendToStream(stream, counted(10), { expectedRevision: 9n });
  expect(nextExpectedRevision).toBe(10n);
  expect(await numbersIn(client, stream)).toEqual([8, 9, 10]);
});

test('$tb hides the events before a revision', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(...range(0, 5)));
  await client.setStreamMetadata(stream, { truncateBefore: 3 });
  expect(await numbersIn(client, stream)).toEqual([3, 4]);
  expect(await numbersIn(client, stream, backwards)).toEqual([4, 3]);
  await client.setStreamMetadata(stream, { truncateBefore: 99 });
  expect(await numbersIn(client, stream)).toEqual([]);
});

test('$maxAge hides older events', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(1, 2));
  await client.setStreamMetadata(stream, { maxAge: 3600 });
  expect(await numbersIn(client, stream)).toEqual([1, 2]);
  await client.setStreamMetadata(stream, { maxAge: 1 });
  await sleep(1_100);
  expect(await numbersIn(client, stream)).toEqual([]);
  await client.setStreamMetadata(stream, {});
  expect(await numbersIn(client, stream)).toEqual([1, 2]);
});

test('a stream with metadata only is not found by reads, but exists for an append', async () => {
  const stream = newStream();
  await client.setStreamMetadata(stream, { maxCount: 5 });
  await expect(numbersIn(client, stream)).rejects.toMatchObject({ type: 'stream-not-found' });
  const { nextExpectedRevision } = await client.appendToStream(stream, counted(1), {
    expectedRevision: 'stream_exists',
  });
  expect(nextExpectedRevision).toBe(0n);
});

test('truncated events are still in $all', async () => {
  const stream = newStream();
  const { position } = await client.appendToStream(stream, counted(1));
  await client.setStreamMetadata(stream, { truncateBefore: 1 });
  const [read] = await collect(client.readAll({ fromPosition: position!, maxCount: 1 }));
  expect(read!.event!.streamId).toBe(stream);
});
