import { randomUUID } from 'node:crypto';
import {
  binaryEvent,
  DeadlineExceededError,
  type EventStoreDBClient,
  jsonEvent,
  MaxAppendSizeExceededError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import { collect, counted, newStream, numbersIn, range, useStore } from '../testing/jest-store.ts';

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));

// With credentials the client makes one call per append; without, it sends all appends over one batch call.
const callTypes = [
  ['batch append', {}],
  ['append', { credentials: { username: 'admin', password: 'changeit' } }],
] as const;

type CallType = (typeof callTypes)[number][1];
const appendBy =
  (callType: CallType) =>
  (stream: string, events: ReturnType<typeof counted>, options = {}) =>
    client.appendToStream(stream, events, { ...callType, ...options });

describe.each(callTypes)('%s', (_, callType) => {
  const append = appendBy(callType);

  test('an event is read back as it was appended', async () => {
    const stream = newStream();
    const event = jsonEvent({ type: 'Said', data: { text: 'día 日' }, metadata: { by: 'test' } });
    const { nextExpectedRevision, position } = await client.appendToStream(stream, event, callType);
    expect(nextExpectedRevision).toBe(0n);

    const [read, ...rest] = await collect(client.readStream(stream));
    expect(rest).toEqual([]);
    expect(read!.commitPosition).toBe(position!.commit);
    const { created, ...recorded } = read!.event!;
    expect(recorded).toEqual({
      id: event.id,
      streamId: stream,
      revision: 0n,
      type: 'Said',
      data: { text: 'día 日' },
      metadata: { by: 'test' },
      isJson: true,
      position,
    });
    expect(created).toBeInstanceOf(Date);
  });

  test('binary data and metadata keep every byte', async () => {
    const stream = newStream();
    const bytes = Uint8Array.from(range(0, 256));
    const event = binaryEvent({ type: 'Bytes', data: bytes, metadata: Uint8Array.from([0, 255, 0]) });
    const nothing = binaryEvent({ type: 'Nothing', data: new Uint8Array() });
    await client.appendToStream(stream, [event, nothing], callType);
    const [first, second] = await collect(client.readStream(stream));
    expect(first!.event).toMatchObject({ isJson: false });
    expect([...(first!.event!.data as Uint8Array)]).toEqual([...bytes]);
    expect([...(first!.event!.metadata as Uint8Array)]).toEqual([0, 255, 0]);
    expect([...(second!.event!.data as Uint8Array)]).toEqual([]);
    expect(second!.event!.metadata).toBeUndefined();
  });

  test('the events of an append get consecutive revisions', async () => {
    const stream = newStream();
    expect(await append(stream, counted(1, 2, 3))).toMatchObject({ success: true, nextExpectedRevision: 2n });
    expect(await append(stream, counted(4))).toMatchObject({ nextExpectedRevision: 3n });
    expect(await numbersIn(client, stream)).toEqual([1, 2, 3, 4]);
  });
});

describe.each(callTypes)('%s: expected revision', (_, callType) => {
  const append = appendBy(callType);

  test('an append with a matching expected revision is accepted', async () => {
    const stream = newStream();
    await append(stream, counted(1), { expectedRevision: 'no_stream' });
    await append(stream, counted(2), { expectedRevision: 0n });
    await append(stream, counted(3), { expectedRevision: 'stream_exists' });
    await append(stream, counted(4), { expectedRevision: 'any' });
    expect(await numbersIn(client, stream)).toEqual([1, 2, 3, 4]);
  });

  test.each([
    ['no_stream', 1n],
    [0n, 1n],
    [5n, 1n],
  ] as const)(
    'an append to a stream at revision 1 that expects %s is refused, and reports both revisions',
    async (expected, actual) => {
      const stream = newStream();
      await append(stream, counted(1, 2));
      const refused = append(stream, counted(3), { expectedRevision: expected });
      await expect(refused).rejects.toBeInstanceOf(WrongExpectedVersionError);
      await expect(refused).rejects.toMatchObject({
        streamName: stream,
        expectedVersion: expected,
        actualVersion: actual,
      });
      expect(await numbersIn(client, stream)).toEqual([1, 2]);
    },
  );

  test.each([['stream_exists'], [0n]] as const)(
    'an append to a missing stream that expects %s is refused',
    async (expected) => {
      const refused = append(newStream(), counted(1), { expectedRevision: expected });
      await expect(refused).rejects.toBeInstanceOf(WrongExpectedVersionError);
      await expect(refused).rejects.toMatchObject({ expectedVersion: expected, actualVersion: 'no_stream' });
    },
  );
});

describe.each(callTypes)('%s: repeated event ids', (_, callType) => {
  const append = appendBy(callType);

  test.each([['no_stream'], [0n], ['any'], ['stream_exists']] as const)(
    'an append repeated with the same event ids, expecting %s, gets the same result and writes nothing',
    async (expected) => {
      const stream = newStream();
      if (expected !== 'no_stream') await append(stream, counted(0), { expectedRevision: 'no_stream' });
      const events = counted(1, 2);
      const first = await append(stream, events, { expectedRevision: expected });
      await append(stream, counted(3));
      expect(await append(stream, events, { expectedRevision: expected })).toEqual(first);
      const begin = expected === 'no_stream' ? [] : [0];
      expect(await numbersIn(client, stream)).toEqual([...begin, 1, 2, 3]);
    },
  );

  test('the same event ids in another stream are a new append', async () => {
    const [one, other] = [newStream(), newStream()];
    const events = counted(1);
    await append(one, events);
    await append(other, events);
    expect(await numbersIn(client, other)).toEqual([1]);
  });

  test.each([[0n], ['any']] as const)(
    'a repeated append with one more event, expecting %s, is refused',
    async (expected) => {
      const stream = newStream();
      const [first, second, third] = counted(1, 2, 3);
      await append(stream, counted(0));
      await append(stream, [first!, second!], { expectedRevision: expected });
      const longer = append(stream, [first!, second!, third!], { expectedRevision: expected });
      await expect(longer).rejects.toBeInstanceOf(WrongExpectedVersionError);
      expect(await numbersIn(client, stream)).toEqual([0, 1, 2]);
    },
  );
});

describe.each(callTypes)('%s: size limits', (_, callType) => {
  test('an append above 1 MiB is refused as a whole, one below is accepted', async () => {
    const stream = newStream();
    const sized = (bytes: number) => binaryEvent({ type: 'Large', data: new Uint8Array(bytes) });
    const half = 512 * 1024;
    const refused = client.appendToStream(stream, [sized(half), sized(half)], callType);
    await expect(refused).rejects.toBeInstanceOf(MaxAppendSizeExceededError);
    await expect(refused).rejects.toMatchObject({ maxAppendSize: 1024 * 1024 });
    const { nextExpectedRevision } = await client.appendToStream(stream, [sized(half), sized(half - 100)], callType);
    expect(nextExpectedRevision).toBe(1n);
  });

  test('an event larger than a gRPC message is refused as too large', async () => {
    const event = binaryEvent({ type: 'Large', data: new Uint8Array(6 * 1024 * 1024) });
    await expect(client.appendToStream(newStream(), event, callType)).rejects.toBeInstanceOf(
      MaxAppendSizeExceededError,
    );
  });
});

describe.each(callTypes)('%s: concurrency', (_, callType) => {
  const append = appendBy(callType);

  test('of concurrent appends that expect the same revision, one succeeds and the others are refused', async () => {
    const stream = newStream();
    const attempts = range(0, 20).map((n) => append(stream, counted(n), { expectedRevision: 'no_stream' }));
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ actualVersion: 0n });
    }
    expect(await numbersIn(client, stream)).toHaveLength(1);
  });

  test('concurrent repeats of one append write its events once', async () => {
    const stream = newStream();
    const events = counted(1, 2);
    const repeat = () => append(stream, events, { expectedRevision: 'no_stream' });
    const outcomes = await Promise.allSettled(range(0, 10).map(repeat));
    const later = await repeat();
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toEqual(later);
      else expectCommitTimeout(outcome.reason);
    }
    expect(outcomes.map(({ status }) => status)).toContain('fulfilled');
    expect(await numbersIn(client, stream)).toEqual([1, 2]);
  });

  test('concurrent appends to one stream keep the events of each append together', async () => {
    const stream = newStream();
    await Promise.all(range(0, 30).map((n) => append(stream, counted(3 * n, 3 * n + 1, 3 * n + 2))));
    const numbers = await numbersIn(client, stream);
    expect([...numbers].sort((a, b) => a - b)).toEqual(range(0, 90));
    for (let i = 0; i < 90; i += 3) expect(numbers.slice(i, i + 3)).toEqual(range(numbers[i]!, 3));
  });
});

/** EventStoreDB answers some of the repeats that arrive at once as timed out, although the events are written. */
const expectCommitTimeout = (error: unknown): void => {
  if (!(error instanceof DeadlineExceededError)) expect(String(error)).toContain('ABORTED: Operation timed out');
};

test('without throwOnAppendFailure a wrong expected revision is a result, not an error', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(1, 2));
  const lenientUrl = `${store.url}${store.url.includes('?') ? '&' : '?'}throwOnAppendFailure=false`;
  const result = await store.connect(lenientUrl).appendToStream(stream, counted(3), { expectedRevision: 'no_stream' });
  expect(result.success).toBe(false);
});

test('an append that the client splits into several messages is written as one', async () => {
  const stream = newStream();
  const events = counted(...range(0, 200));
  const { nextExpectedRevision } = await client.appendToStream(stream, events, { batchAppendSize: 1_000 });
  expect(nextExpectedRevision).toBe(199n);
  expect(await numbersIn(client, stream)).toEqual(range(0, 200));
});

test('a stream name may contain any characters', async () => {
  const stream = `order "it's" {1,2} \\ %20 日本-${randomUUID()}`;
  await client.appendToStream(stream, counted(1));
  const [read] = await collect(client.readStream(stream));
  expect(read!.event!.streamId).toBe(stream);
});
