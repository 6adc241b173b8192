import type { EventStoreDBClient } from '@eventstore/db-client';
import { readLog } from './log.ts';

/** Reads a log of so many entries of each stream, one stream after the other. Resolves to the sizes of the batches, and
 *  to the positions that were reported. */
const read = async (...streams: readonly (readonly [stream: string, count: number])[]) => {
  const entries = streams
    .flatMap(([streamId, count]) => Array<string>(count).fill(streamId))
    .map((streamId, n) => ({ event: { id: `${n}`, streamId, position: { commit: BigInt(n), prepare: BigInt(n) } } }));
  const client = {
    readAll: () => ({ destroy: () => {}, [Symbol.asyncIterator]: () => [...entries, {}][Symbol.iterator]() }),
  } as unknown as EventStoreDBClient;
  const sizes: number[] = [];
  const reached: number[] = [];
  const position = await readLog(client, {
    from: null,
    prefixes: ['own-'],
    signal: new AbortController().signal,
    handle: async (events) => void sizes.push(events.length),
    onHandled: ({ commit }) => void reached.push(Number(commit)),
  });
  expect(position?.commit).toBe(String(entries.length - 1));
  return { sizes, reached };
};

test.each<[string, readonly (readonly [string, number])[], number[], number[]]>([
  ['256 events are one batch', [['own-1', 256]], [256], [255, 255]],
  ['more events are several', [['own-1', 600]], [256, 256, 88], [255, 511, 599]],
  ['4095 entries of others are skipped without a word', [['x-1', 4_095]], [], [4_094]],
  ['each 4096 of them tell how far the log was read', [['x-1', 8_200]], [], [4_095, 8_191, 8_199]],
  [
    'a batch counts as such a word',
    [
      ['x-1', 4_000],
      ['own-1', 256],
      ['x-1', 4_000],
    ],
    [256],
    [4_255, 8_255],
  ],
  [
    'a word hands over the events before it',
    [
      ['own-1', 3],
      ['x-1', 4_096],
      ['own-1', 1],
    ],
    [3, 1],
    [4_098, 4_099],
  ],
])('%s', async (_, streams, sizes, reached) => {
  expect(await read(...streams)).toEqual({ sizes, reached });
});
