import { parseBatch, setBaseOffset } from '../records/batch.ts';
import { batchOf } from '../testing/batches.ts';
import { Queue } from './queue.ts';
import { type Tail, TailCache, readCached, memoryBytesOf } from './tail-cache.ts';

/** A stored batch of two records. */
const at = (baseOffset: number): Buffer => {
  const batch = parseBatch(batchOf(['a', 'b']), 1_000);
  setBaseOffset(batch, baseOffset, 0);
  return batch.bytes;
};
const SIZE = at(0).length;
const WEIGHT = memoryBytesOf(at(0));
const offsets = (batches: Buffer[] | null) => batches?.map((batch) => Number(batch.readBigInt64BE(0))) ?? null;

const all = (tail: Tail) => tail.slice(0, tail.length);

const filled = (cache: TailCache, ...starts: number[]): Tail => {
  const tail: Tail = new Queue();
  for (const start of starts) cache.add(tail, at(start));
  return tail;
};

test('reading starts at the batch that holds the offset', () => {
  const tail = filled(new TailCache(10 * WEIGHT), 10, 12, 14);
  expect(offsets(readCached(tail, 10, 1_000))).toEqual([10, 12, 14]);
  expect(offsets(readCached(tail, 13, 1_000))).toEqual([12, 14]);
  expect(offsets(readCached(tail, 16, 1_000))).toEqual([]);
});

test('what is older than the cache has to be read elsewhere', () => {
  expect(readCached(filled(new TailCache(10 * WEIGHT), 10, 12), 9, 1_000)).toBeNull();
  expect(readCached(new Queue(), 0, 1_000)).toBeNull();
});

test('as many batches come as fit, and always the first', () => {
  const tail = filled(new TailCache(10 * WEIGHT), 0, 2, 4);
  expect(offsets(readCached(tail, 0, 2 * SIZE))).toEqual([0, 2]);
  expect(offsets(readCached(tail, 0, 1))).toEqual([0]);
});

test('the oldest batch goes first, of whichever partition it is', () => {
  const cache = new TailCache(3 * WEIGHT);
  const [one, two] = [filled(cache, 0, 2), filled(cache, 0, 2)];
  expect([offsets(all(one)), offsets(all(two))]).toEqual([[2], [0, 2]]);
});

test('it stays within its limit however much goes through', () => {
  const cache = new TailCache(4 * WEIGHT);
  const tail = filled(cache, ...Array.from({ length: 5_000 }, (_, n) => 2 * n));
  expect(offsets(all(tail))).toEqual([9992, 9994, 9996, 9998]);
});
