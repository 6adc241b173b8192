import { Readable } from 'node:stream';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { memoryStore } from '../testing/jest-memory-store.ts';
import { AnyEvent } from './recorded.ts';
import {
  eachEvent,
  eventBefore,
  eventsOf,
  firstEvent,
  isDeletedStream,
  lastEvent,
  rawEventsOf,
  readStream,
  withReadTimeout,
} from './stream.ts';

const timers = (import.meta as unknown as { jest: typeof jest }).jest;

/** A store with streams `s-1` of so many events and `gone-1`, which was deleted. */
const start = async (count: number) => {
  const store = memoryStore();
  store.record('s-1', ...Array.from({ length: count }, (_, n) => ({ type: `E${n}` })));
  await store.client.tombstoneStream('gone-1');
  return store;
};

test.each([
  [0, ['0+32']],
  [31, ['0+32']],
  [32, ['0+32', '32+512']],
  [33, ['0+32', '32+512']],
  [544, ['0+32', '32+512', '544+512']],
])('a stream of %i events is read in pages, each once', async (count, pages) => {
  const { client, reads } = await start(count);
  const recorded = await readStream(client, 's-1', AnyEvent);
  expect(recorded!.map(({ revision }) => revision)).toEqual(Array.from({ length: count }, (_, n) => n));
  expect(reads).toEqual(pages.map((page) => `s-1 ${page}`));
});

test.each([
  [3, 20, ['0+3']],
  [32, 40, ['0+32']],
  [35, 40, ['0+32', '32+3']],
])('at most %i of %i events are read', async (maxCount, count, pages) => {
  const { client, reads } = await start(count);
  let seen = 0;
  expect(await eachEvent(client, 's-1', AnyEvent, () => void (seen += 1), { maxCount })).toBe(true);
  expect([seen, reads]).toEqual([maxCount, pages.map((page) => `s-1 ${page}`)]);
});

test('a stream is read on from a revision', async () => {
  const { client, reads } = await start(5);
  const revisions: number[] = [];
  await eachEvent(client, 's-1', AnyEvent, ({ revision }) => void revisions.push(revision), { fromRevision: 3 });
  const raw: number[] = [];
  for await (const { event } of rawEventsOf(client, 's-1', 2)) raw.push(Number(event!.revision));
  expect([revisions, raw, reads]).toEqual([
    [3, 4],
    [2, 3, 4],
    ['s-1 3+32', 's-1 2+32'],
  ]);
});

const countOf = async (events: AsyncIterable<unknown>) => {
  let count = 0;
  for await (const _ of events) count += 1;
  return count;
};

test('reads tell a deleted stream from one that never was, except those that only want events', async () => {
  const { client } = await start(0);
  expect([await readStream(client, 'never-1', AnyEvent), await readStream(client, 'gone-1', AnyEvent)]).toEqual([
    [],
    null,
  ]);
  expect([await firstEvent(client, 'never-1', AnyEvent), await firstEvent(client, 'gone-1', AnyEvent)]).toEqual([
    null,
    'deleted',
  ]);
  expect([await lastEvent(client, 'never-1', AnyEvent), await lastEvent(client, 'gone-1', AnyEvent)]).toEqual([
    null,
    null,
  ]);
  expect([await eventBefore(client, 'never-1', 1), await eventBefore(client, 'gone-1', 1)]).toEqual([null, 'deleted']);
  expect([await isDeletedStream(client, 'never-1'), await isDeletedStream(client, 'gone-1')]).toEqual([false, true]);
  expect([await countOf(eventsOf(client, 'gone-1', AnyEvent)), await countOf(rawEventsOf(client, 'gone-1'))]).toEqual([
    0, 0,
  ]);
});

test('the first, the last, and the event before another one', async () => {
  const { client, reads } = await start(5);
  expect(await firstEvent(client, 's-1', AnyEvent)).toMatchObject({ revision: 0, event: { type: 'E0' } });
  expect(await lastEvent(client, 's-1', AnyEvent)).toMatchObject({ revision: 4, event: { type: 'E4' } });
  expect(await eventBefore(client, 's-1', 3)).toMatchObject({ event: { revision: 2n } });
  expect(await isDeletedStream(client, 's-1')).toBe(false);
  expect(reads).toEqual(['s-1 0+1', 's-1 end+1', 's-1 2+1', 's-1 end+1']);
});

/** A client whose reads return this stream. */
const clientOf = (reading: Readable) => ({ readStream: () => reading }) as unknown as EventStoreDBClient;
const failing = () => clientOf(new Readable({ objectMode: true, read: () => {} }).destroy(new Error('broken')));

test.each([
  ['a whole read', () => readStream(failing(), 's-1', AnyEvent)],
  ['a look at the end', () => isDeletedStream(failing(), 's-1')],
])('%s that fails is an outage of the event store', async (_, read) => {
  await expect(read()).rejects.toMatchObject({ code: 'dependency_unavailable', cause: { message: 'broken' } });
});

test('a fault of the caller is no outage, and ends the read', async () => {
  const { client } = await start(3);
  const fault = new Error('of the caller');
  const handle = () => {
    throw fault;
  };
  await expect(eachEvent(client, 's-1', AnyEvent, handle)).rejects.toBe(fault);
});

describe('a store that does not answer', () => {
  beforeEach(() => void timers.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
  afterEach(() => void timers.useRealTimers());
  const silent = () => new Readable({ objectMode: true, read: () => {} });

  test.each([
    ['a whole read', (client: EventStoreDBClient) => readStream(client, 's-1', AnyEvent)],
    ['a look at the end', (client: EventStoreDBClient) => lastEvent(client, 's-1', AnyEvent)],
  ])('ends %s after 5 s', async (_, read) => {
    const reading = silent();
    let outcome: unknown = 'waits';
    const ended = read(clientOf(reading)).catch((error: unknown) => (outcome = error));
    await timers.advanceTimersByTimeAsync(4_999);
    expect(outcome).toBe('waits');
    await timers.advanceTimersByTimeAsync(1);
    await ended;
    expect(outcome).toMatchObject({ code: 'dependency_unavailable' });
    expect(reading.destroyed).toBe(true);
  });

  test('does not end a read while its caller handles an event', async () => {
    const reading = Readable.from([{ event: { revision: 0n } }]);
    for await (const { event } of rawEventsOf(clientOf(reading), 's-1')) {
      expect(event!.revision).toBe(0n);
      await timers.advanceTimersByTimeAsync(6_000);
    }
    expect(timers.getTimerCount()).toBe(0);
  });

  test('a read that is left early is ended after 5 s, unless it ends by itself before', async () => {
    const reading = silent();
    reading.push({ event: { revision: 0n } });
    for await (const _ of rawEventsOf(clientOf(reading), 's-1')) break;
    expect(reading.destroyed).toBe(false);
    await timers.advanceTimersByTimeAsync(5_000);
    expect(reading.destroyed).toBe(true);
    expect(timers.getTimerCount()).toBe(0);
  });
});

test('a read whose work fails is closed, and its result is that of the work', async () => {
  const reading = Readable.from([1]);
  const asRead = reading as unknown as Parameters<typeof withReadTimeout>[1];
  expect(await withReadTimeout(1_000, asRead, Promise.resolve('done'))).toBe('done');
  expect(reading.destroyed).toBe(false);
  await expect(withReadTimeout(1_000, asRead, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(reading.destroyed).toBe(true);
});
