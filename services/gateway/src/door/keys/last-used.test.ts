import { createLogger } from '@cpg/platform';
import { createLastUsedTracker, type KeyUse } from './last-used.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const at = (second: number): KeyUse => ({ at: new Date(second * 1000), address: `203.0.113.${second}` });
let stop = async () => {};

test('writes the latest use of each key in one batch', async () => {
  const written: [string, KeyUse][][] = [];
  const tracker = createLastUsedTracker({
    write: async (batch) => void written.push([...batch]),
    log,
    everyMs: 60_000,
  });
  tracker.record('a', at(1));
  tracker.record('b', at(2));
  tracker.record('a', at(3));
  await tracker.stop();
  await tracker.stop();
  expect(written).toEqual([
    [
      ['a', at(3)],
      ['b', at(2)],
    ],
  ]);
});

test('retries a failed batch without overwriting a newer use', async () => {
  const written: [string, KeyUse][][] = [];
  let unavailable = true;
  const tracker = createLastUsedTracker({
    write: async (batch) => {
      if (!unavailable) return void written.push([...batch]);
      tracker.record('a', at(9));
      throw new Error('unavailable');
    },
    log,
    everyMs: 60_000,
  });
  tracker.record('a', at(1));
  tracker.record('b', at(2));
  await tracker.stop();
  unavailable = false;
  await tracker.stop();
  expect(written).toEqual([
    [
      ['a', at(9)],
      ['b', at(2)],
    ],
  ]);
});

test('writes at intervals until it stops, and nothing when no key was used', async () => {
  const sizes: number[] = [];
  let written = () => {};
  const tracker = createLastUsedTracker({
    write: async (batch) => {
      sizes.push(batch.size);
      written();
    },
    log,
    everyMs: 1,
  });
  for (let n = 0; n < 2; n += 1) {
    const writing = new Promise<void>((done) => (written = done));
    tracker.record('a', at(n));
    await writing;
  }
  await tracker.stop();
  expect(sizes).toEqual([1, 1]);
});

test('stops only after a write in flight, and writes again what that one could not', async () => {
  const batches: string[][] = [];
  let fail: (error: Error) => void = () => {};
  const begun = new Promise<void>((resolve) => {
    const tracker = createLastUsedTracker({
      write: (batch) => {
        batches.push([...batch.keys()]);
        if (batches.length > 1) return Promise.resolve();
        resolve();
        return new Promise((_, reject) => (fail = reject));
      },
      log,
      everyMs: 1,
    });
    tracker.record('a', at(1));
    stop = tracker.stop;
  });
  await begun;
  const stopped = stop();
  fail(new Error('unavailable'));
  await stopped;
  expect(batches).toEqual([['a'], ['a']]);
});
