import { randomUUID } from 'node:crypto';
import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  jsonEvent,
  START,
  StreamDeletedError,
  StreamNotFoundError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import {
  collect,
  collectUntil,
  connect,
  counted,
  newStream,
  numberOf,
  range,
  storeUnderTest,
} from './testing/jest-store.ts';

let store: Awaited<ReturnType<typeof storeUnderTest>>;
let client: EventStoreDBClient;
beforeAll(async () => {
  store = await storeUnderTest();
  client = connect(store.url);
});
afterAll(async () => {
  await client.dispose();
  await store.stop();
});

const numbersIn = async (stream: string, options = {}): Promise<number[]> =>
  (await collect(client.readStream(stream, options))).map(numberOf);

describe('append', () => {
  test('a stream is read back in the order it was written, byte for byte', async () => {
    const stream = newStream();
    const event = jsonEvent({ type: 'Said', data: { text: 'día 日' }, metadata: { by: 'test' } });
    const before = Date.now();
    const { nextExpectedRevision, position } = await client.appendToStream(stream, event, {
      expectedRevision: 'no_stream',
    });
    expect(nextExpectedRevision).toBe(0n);

    const [read, ...rest] = await collect(client.readStream(stream));
    expect(rest).toEqual([]);
    expect(read!.event).toMatchObject({
      id: event.id,
      streamId: stream,
      revision: 0n,
      type: 'Said',
      data: { text: 'día 日' },
      metadata: { by: 'test' },
      isJson: true,
      position,
    });
    expect(Math.abs((read!.event!.created as Date).getTime() - before)).toBeLessThan(60_000);
  });

  test('an append of several events is one commit with following revisions', async () => {
    const stream = newStream();
    const { nextExpectedRevision } = await client.appendToStream(stream, counted(1, 2, 3));
    expect(nextExpectedRevision).toBe(2n);
    expect(await numbersIn(stream)).toEqual([1, 2, 3]);
  });

  test('an exact revision that has moved on is refused with both revisions', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(1, 2));
    const refused = client.appendToStream(stream, counted(3), { expectedRevision: 0n });
    await expect(refused).rejects.toBeInstanceOf(WrongExpectedVersionError);
    await expect(refused).rejects.toMatchObject({ streamName: stream, expectedVersion: 0n, actualVersion: 1n });
    expect(await numbersIn(stream)).toEqual([1, 2]);
  });

  test('a repeat of an append at its exact revision changes nothing and succeeds', async () => {
    const stream = newStream();
    const events = counted(1, 2);
    await client.appendToStream(stream, counted(0), { expectedRevision: 'no_stream' });
    const first = await client.appendToStream(stream, events, { expectedRevision: 0n });
    await client.appendToStream(stream, counted(3));
    expect(await client.appendToStream(stream, events, { expectedRevision: 0n })).toEqual(first);
    expect(await numbersIn(stream)).toEqual([0, 1, 2, 3]);
  });
});

describe('delete', () => {
  test('a deleted stream is not found, and goes on at its next revision', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(1, 2));
    await client.deleteStream(stream, { expectedRevision: 1n });
    await expect(collect(client.readStream(stream))).rejects.toBeInstanceOf(StreamNotFoundError);

    const again = await client.appendToStream(stream, counted(3), { expectedRevision: 'no_stream' });
    expect(again.nextExpectedRevision).toBe(2n);
    expect(await numbersIn(stream)).toEqual([3]);
  });

  test('a stream with a tombstone can neither be read nor written', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(1));
    await client.tombstoneStream(stream);
    await expect(collect(client.readStream(stream))).rejects.toBeInstanceOf(StreamDeletedError);
    await expect(client.appendToStream(stream, counted(2))).rejects.toBeInstanceOf(StreamDeletedError);
  });
});

describe('subscribe to $all', () => {
  test('from a position: what was before is left out, what comes later follows', async () => {
    const stream = newStream();
    const { position } = await client.appendToStream(stream, counted(1));
    await client.appendToStream(stream, counted(2));
    const subscription = client.subscribeToAll({ fromPosition: position! });
    const received = collectUntil(
      subscription,
      ({ event }) => event?.streamId === stream && (event.data as { n: number }).n === 3,
    );
    await client.appendToStream(stream, counted(3));
    expect((await received).filter(({ event }) => event?.streamId === stream).map(numberOf)).toEqual([2, 3]);
  });
});

test('reading backwards from the end gives the last events first', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(...range(0, 10)));
  expect(await numbersIn(stream, { direction: BACKWARDS, fromRevision: END, maxCount: 3 })).toEqual([9, 8, 7]);
  expect(await numbersIn(stream, { fromRevision: START, maxCount: 2 })).toEqual([0, 1]);
  await expect(collect(client.readStream(`${stream}-${randomUUID()}`))).rejects.toBeInstanceOf(StreamNotFoundError);
});
