import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type ReadStreamOptions,
  START,
  StreamNotFoundError,
} from '@eventstore/db-client';
import { collect, counted, newStream, numberOf, numbersIn, range, useStore } from '../testing/jest-store.ts';

const store = useStore();
let client: EventStoreDBClient;
beforeAll(() => ({ client } = store));

describe('a stream', () => {
  const stream = newStream();
  beforeAll(() => client.appendToStream(stream, counted(...range(0, 10))));

  test.each<[string, ReadStreamOptions, number[]]>([
    ['all events', {}, range(0, 10)],
    ['from its start', { fromRevision: START, maxCount: 3 }, [0, 1, 2]],
    ['from a revision, inclusive', { fromRevision: 7n }, [7, 8, 9]],
    ['a limited number from a revision', { fromRevision: 4n, maxCount: 2 }, [4, 5]],
    ['nothing, from beyond its end', { fromRevision: 10n }, []],
    ['backwards from its end', { direction: BACKWARDS, fromRevision: END, maxCount: 3 }, [9, 8, 7]],
    ['backwards from a revision', { direction: BACKWARDS, fromRevision: 2n }, [2, 1, 0]],
    ['backwards from beyond its end', { direction: BACKWARDS, fromRevision: 50n, maxCount: 2 }, [9, 8]],
    ['the first event, backwards from its start', { direction: BACKWARDS, fromRevision: START }, [0]],
  ])('is read: %s', async (_, options, expected) => {
    expect(await numbersIn(client, stream, options)).toEqual(expected);
  });

  test('that does not exist is not found', async () => {
    const unknown = newStream();
    const reading = collect(client.readStream(unknown));
    await expect(reading).rejects.toBeInstanceOf(StreamNotFoundError);
    await expect(reading).rejects.toMatchObject({ streamName: unknown });
  });

  test('cannot be read forwards from its end', async () => {
    await expect(numbersIn(client, stream, { fromRevision: END })).rejects.toThrow(
      'UNKNOWN: Unexpected ReadStreamResult: Error',
    );
    await expect(numbersIn(client, newStream(), { fromRevision: END })).rejects.toBeInstanceOf(StreamNotFoundError);
  });

  test('can be read right after each append', async () => {
    const fresh = newStream();
    for (const n of range(0, 20)) {
      await client.appendToStream(fresh, counted(n));
      expect(await numbersIn(client, fresh)).toEqual(range(0, n + 1));
    }
  });
});

describe('$all', () => {
  const stream = newStream();
  const positions: { commit: bigint; prepare: bigint }[] = [];
  beforeAll(async () => {
    for (const n of range(0, 6)) positions.push((await client.appendToStream(stream, counted(n))).position!);
  });
  const numbers = async (options: Parameters<EventStoreDBClient['readAll']>[0]) =>
    (await collect(client.readAll(options))).filter(({ event }) => event?.streamId === stream).map(numberOf);

  test('positions grow', () => {
    const commits = positions.map(({ commit }) => commit);
    expect([...commits].sort((a, b) => (a < b ? -1 : 1))).toEqual(commits);
    expect(new Set(commits).size).toBe(6);
  });

  test('forwards from a position, that one included', async () => {
    expect(await numbers({ fromPosition: positions[2]!, direction: FORWARDS })).toEqual([2, 3, 4, 5]);
    expect(await numbers({ fromPosition: positions[2]!, maxCount: 1 })).toEqual([2]);
  });

  test('is read backwards from a position, exclusive', async () => {
    const read = await numbers({ fromPosition: positions[2]!, direction: BACKWARDS, maxCount: 2 });
    expect(read).toEqual([1, 0]);
  });

  test('is read from the start and from the end', async () => {
    expect(await numbers({ fromPosition: START })).toEqual([0, 1, 2, 3, 4, 5]);
    expect(await numbers({ fromPosition: END, direction: BACKWARDS, maxCount: 3 })).toEqual([5, 4, 3]);
    expect(await collect(client.readAll({ fromPosition: END }))).toEqual([]);
    expect(await collect(client.readAll({ fromPosition: START, direction: BACKWARDS }))).toEqual([]);
  });

  test('events have the position that their append returned', async () => {
    const [read] = await collect(client.readAll({ fromPosition: positions[3]!, maxCount: 1 }));
    expect(read!.event!.position).toEqual(positions[3]);
    expect(read!.commitPosition).toBe(positions[3]!.commit);
  });
});

test('the server serves on after readers have stopped half-way', async () => {
  const stream = newStream();
  await client.appendToStream(stream, counted(...range(0, 1500)));
  for (const _ of range(0, 5)) {
    for await (const resolved of client.readStream(stream)) if (numberOf(resolved) === 2) break;
  }
  expect(await numbersIn(client, stream, { maxCount: 1 })).toEqual([0]);
});
