import {
  type EventStoreDBClient,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { collect, counted, newStream, numbersIn, useStore } from '../testing/jest-store.ts';

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));

describe('a soft-deleted stream', () => {
  const deleted = async (): Promise<string> => {
    const stream = newStream();
    await client.appendToStream(stream, counted(1, 2));
    await client.deleteStream(stream);
    return stream;
  };

  test('is not found by a read', async () => {
    await expect(numbersIn(client, await deleted())).rejects.toBeInstanceOf(StreamNotFoundError);
  });

  test.each([['any'], ['no_stream'], [1n]] as const)(
    'continues at its next revision after an append that expects %s',
    async (expected) => {
      const stream = await deleted();
      const again = await client.appendToStream(stream, counted(3), { expectedRevision: expected });
      expect(again.nextExpectedRevision).toBe(2n);
      const [read, ...rest] = await collect(client.readStream(stream));
      expect(read!.event).toMatchObject({ revision: 2n, data: { n: 3 } });
      expect(rest).toEqual([]);
      await client.appendToStream(stream, counted(4), { expectedRevision: 2n });
      expect(await numbersIn(client, stream)).toEqual([3, 4]);
    },
  );

  test('refuses an append that expects it to exist', async () => {
    const stream = await deleted();
    const refused = client.appendToStream(stream, counted(3), { expectedRevision: 'stream_exists' });
    await expect(refused).rejects.toBeInstanceOf(StreamDeletedError);
  });

  test('can be deleted again after it was re-created', async () => {
    const stream = await deleted();
    await client.appendToStream(stream, counted(3));
    await client.deleteStream(stream);
    await expect(numbersIn(client, stream)).rejects.toBeInstanceOf(StreamNotFoundError);
    await client.appendToStream(stream, counted(4));
    expect(await numbersIn(client, stream)).toEqual([4]);
  });

  test('is re-created without its events when its metadata is set', async () => {
    const stream = await deleted();
    await client.setStreamMetadata(stream, { maxCount: 5 });
    expect((await client.getStreamMetadata(stream)).metadata).toEqual({ maxCount: 5, truncateBefore: 2 });
    expect(await numbersIn(client, stream)).toEqual([]);
    await client.appendToStream(stream, counted(3));
    expect(await numbersIn(client, stream)).toEqual([3]);
  });

  test('has a $metadata event in its metastream', async () => {
    const stream = await deleted();
    const [last] = await collect(client.readStream(`$$${stream}`, { direction: 'backwards', fromRevision: 'end' }));
    expect(last!.event).toMatchObject({ type: '$metadata', streamId: `$$${stream}`, revision: 0n, isJson: true });
  });
});

test('a delete with a wrong expected revision is refused', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(1, 2));
  const refused = client.deleteStream(stream, { expectedRevision: 0n });
  await expect(refused).rejects.toBeInstanceOf(WrongExpectedVersionError);
  await expect(refused).rejects.toMatchObject({ streamName: stream, expectedVersion: 0n, actualVersion: 1n });
  expect(await numbersIn(client, stream)).toEqual([1, 2]);
  await client.deleteStream(stream, { expectedRevision: 1n });
});

test('a stream that never existed can be tombstoned', async () => {
  const stream = newStream();
  await client.tombstoneStream(stream, { expectedRevision: 'no_stream' });
  await expect(client.appendToStream(stream, counted(1))).rejects.toBeInstanceOf(StreamDeletedError);
});

test('a stream that does not exist cannot be deleted', async () => {
  await expect(client.deleteStream(newStream())).rejects.toBeInstanceOf(WrongExpectedVersionError);
});

describe('a tombstoned stream', () => {
  const stream = newStream();
  beforeAll(async () => {
    await client.appendToStream(stream, counted(1));
    await client.setStreamMetadata(stream, { maxCount: 5 });
    await client.tombstoneStream(stream, { expectedRevision: 0n });
  });

  test('is reported as deleted to readers', async () => {
    await expect(numbersIn(client, stream)).rejects.toBeInstanceOf(StreamDeletedError);
    await expect(numbersIn(client, stream, { direction: 'backwards' })).rejects.toMatchObject({ streamName: stream });
  });

  test.each([['any'], ['no_stream'], ['stream_exists'], [0n]] as const)(
    'refuses an append that expects %s',
    async (expected) => {
      const refused = client.appendToStream(stream, counted(2), { expectedRevision: expected });
      await expect(refused).rejects.toBeInstanceOf(StreamDeletedError);
      await expect(refused).rejects.toMatchObject({ streamName: stream });
    },
  );

  test('refuses an append outside of a batch call the same way', async () => {
    const credentials = { username: 'admin', password: 'changeit' };
    const refused = client.appendToStream(stream, counted(2), { credentials });
    await expect(refused).rejects.toBeInstanceOf(StreamDeletedError);
  });

  test('has no metadata, and takes none', async () => {
    await expect(client.getStreamMetadata(stream)).rejects.toBeInstanceOf(StreamDeletedError);
    await expect(client.setStreamMetadata(stream, { maxCount: 1 })).rejects.toBeInstanceOf(StreamDeletedError);
  });

  test('can be neither deleted nor tombstoned again', async () => {
    await expect(client.deleteStream(stream)).rejects.toBeInstanceOf(StreamDeletedError);
    await expect(client.tombstoneStream(stream)).rejects.toBeInstanceOf(StreamDeletedError);
  });

  test('ends in $all with a $streamDeleted event', async () => {
    const last = await collect(client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 20 }));
    const event = last.find(({ event }) => event?.streamId === stream)?.event;
    expect(event).toMatchObject({ type: '$streamDeleted', revision: 9223372036854775807n, isJson: false });
  });

  test('refuses subscribers', async () => {
    await expect(collect(client.subscribeToStream(stream))).rejects.toBeInstanceOf(StreamDeletedError);
    await expect(collect(client.subscribeToStream(stream, { fromRevision: 'end' }))).rejects.toBeInstanceOf(
      StreamDeletedError,
    );
  });
});

test('a subscriber receives the tombstone, and then its subscription ends', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(1));
  const types: string[] = [];
  const subscription = client.subscribeToStream(stream);
  const ended = new Promise<Error>((resolve) => subscription.once('error', resolve));
  subscription.on('data', ({ event }) => types.push(event!.type));
  await new Promise((resolve) => subscription.once('caughtUp', resolve));
  await client.tombstoneStream(stream);
  expect(await ended).toBeInstanceOf(StreamDeletedError);
  expect(types).toEqual(['Counted', '$streamDeleted']);
});
