import { AnyEvent } from '../store/recorded.ts';
import { AT, memoryStore } from '../testing/jest-memory-store.ts';
import { foldedStream } from './folded-stream.ts';

const CONTEXT = { actor: 'service:test', requestId: 'req', correlationId: 'req' };

/** One stream in memory. */
const startStore = () => {
  const { client, record, keep, ...store } = memoryStore();
  return {
    ...store,
    client,
    start: () =>
      foldedStream({
        client,
        stream: 's',
        schema: AnyEvent,
        initial: [] as readonly string[],
        evolve: (state, recorded) => [...state, ...recorded.map(({ event }) => event.type)],
      }),
    record: (...types: string[]) => record('s', ...types.map((type) => ({ type }))),
    keep: (count: number) => keep('s', count),
  };
};
const propose = (type: string, secret?: string) => [
  { event: { type, data: { at: AT } }, ...(secret !== undefined && { secret }) },
];

test('reads an empty stream, and then the last known event with those after it', async () => {
  const { start, record, reads } = startStore();
  const { read } = start();
  expect(await read()).toEqual([]);
  record('A', 'B');
  expect(await read()).toEqual(['A', 'B']);
  record('C');
  expect(await read()).toEqual(['A', 'B', 'C']);
  expect(reads).toEqual(['s 0+32', 's 0+32', 's 1+32']);
});

test('calls of one moment share a read', async () => {
  const { start, record, reads } = startStore();
  record('A');
  const { read } = start();
  expect(await Promise.all([read(), read(), read()])).toEqual([['A'], ['A'], ['A']]);
  expect(reads).toHaveLength(1);
});

test('decides again on the events of another process', async () => {
  const { start } = startStore();
  const [one, other] = [start(), start()];
  const once = (type: string) => (state: readonly string[]) => (state.length === 0 ? propose(type) : []);
  const both = await Promise.all([one.change(once('A'), CONTEXT), other.change(once('B'), CONTEXT)]);
  expect(both[0]).toEqual(both[1]);
  expect(both[0]).toHaveLength(1);
});

test('a stream that an older backup shortened, or went on differently, is folded again', async () => {
  const { start, record, keep } = startStore();
  const folded = start();
  record('A', 'B', 'C');
  await folded.read();
  keep(1);
  expect(await folded.read()).toEqual(['A']);
  record('D', 'E');
  expect(await folded.read()).toEqual(['A', 'D', 'E']);
  expect(await folded.change(() => propose('F'), CONTEXT)).toEqual(['A', 'D', 'E', 'F']);
});

test('keeps a secret in the metadata of its event', async () => {
  const { start, eventsOf } = startStore();
  await start().change(() => [...propose('A', 'hidden'), ...propose('B')], CONTEXT);
  expect(eventsOf('s').map(({ metadata }) => (metadata as { secret?: string }).secret)).toEqual(['hidden', undefined]);
});

test('chains what it appends, and appends nothing where nothing changes', async () => {
  const { start, eventsOf, appends } = startStore();
  const { change } = start();
  await change(() => propose('A'), CONTEXT);
  await change(() => propose('B'), CONTEXT);
  expect(await change(() => [], CONTEXT)).toEqual(['A', 'B']);
  expect(appends()).toBe(2);
  const [first, second] = eventsOf('s');
  expect(second!.metadata).toMatchObject({ previousHash: first!.metadata.hash, $causationId: 'req' });
});

describe('conflicts', () => {
  /** A store in which another process appends before each of the first appends. */
  const conflictIn = (attempts: number) => {
    const store = startStore();
    const append = store.client.appendToStream.bind(store.client);
    store.client.appendToStream = async (...args: Parameters<typeof append>) => {
      if (store.appends() < attempts) store.record('X');
      return append(...args);
    };
    return store;
  };

  test('are decided again at most eleven times', async () => {
    const { start, appends } = conflictIn(11);
    expect((await start().change(() => propose('A'), CONTEXT)).at(-1)).toBe('A');
    expect(appends()).toBe(12);
  });

  test('end the change after twelve attempts', async () => {
    const { start, appends } = conflictIn(Infinity);
    await expect(start().change(() => propose('A'), CONTEXT)).rejects.toMatchObject({ code: 'concurrent_update' });
    expect(appends()).toBe(12);
  });

  test('do not let the deadline pass: the first append may have taken effect', async () => {
    const { start } = conflictIn(1);
    const context = { ...CONTEXT, deadlineMs: Infinity };
    const decide = (state: readonly string[]) => {
      if (state.length > 0) context.deadlineMs = 0;
      return propose('A');
    };
    const { change } = start();
    expect(await change(decide, context)).toEqual(['X', 'A']);
    await expect(change(decide, context)).rejects.toMatchObject({ code: 'overloaded' });
  });
});

test('a deleted stream is a fault of the store: it says how to mend it', async () => {
  const { client, start } = startStore();
  await client.tombstoneStream('s');
  await expect(start().change(() => propose('A'), CONTEXT)).rejects.toThrow('the stream s was deleted: restore');
});

test('a slow read does not replace what a later one found', async () => {
  const { client, start, record } = startStore();
  const { read, change } = start();
  record('A');
  const readStream = client.readStream.bind(client);
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  client.readStream = (...args: Parameters<typeof readStream>) => {
    client.readStream = readStream;
    const early = readStream(...args);
    const iterator = early.iterator.bind(early);
    early.iterator = async function* (options) {
      const events = await iterator(options).next();
      await held;
      yield events.value as never;
    } as typeof iterator;
    return early;
  };
  const slow = read();
  await Promise.resolve();
  expect(await change(() => propose('B'), CONTEXT)).toEqual(['A', 'B']);
  release();
  expect(await slow).toEqual(['A']);
  expect(await read()).toEqual(['A', 'B']);
});
