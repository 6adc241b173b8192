import { parseBatch, setBaseOffset } from '../records/batch.ts';
import { batchOf, NO_LIMITS } from '../testing/batches.ts';
import { memoryBytesOf, Queue, readCached, type Tail, TailCache } from './tail-cache.ts';

/** A stored batch of two records. */
const batchAt = (baseOffset: number): Buffer => {
  const batch = parseBatch(batchOf(['a', 'b']), NO_LIMITS);
  setBaseOffset(batch, baseOffset, 0);
  return batch.bytes;
};
const SIZE = batchAt(0).length;
const WEIGHT = memoryBytesOf(batchAt(0));
const offsets = (batches: Buffer[] | null) => batches?.map((batch) => Number(batch.readBigInt64BE(0))) ?? null;

const all = (tail: Tail) => tail.slice(0, tail.length);

const fill = (cache: TailCache, ...starts: number[]): Tail => {
  const tail: Tail = new Queue();
  for (const start of starts) cache.add(tail, batchAt(start));
  return tail;
};

test('a read starts at the batch that contains the offset', () => {
  const tail = fill(new TailCache(10 * WEIGHT), 10, 12, 14);
  expect(offsets(readCached(tail, 10, 1_000))).toEqual([10, 12, 14]);
  expect(offsets(readCached(tail, 13, 1_000))).toEqual([12, 14]);
  expect(offsets(readCached(tail, 16, 1_000))).toEqual([]);
});

test('a read finds every offset of many batches', () => {
  const starts = Array.from({ length: 100 }, (_, n) => 2 * n);
  for (let size = 1; size <= starts.length; size += 1) {
    const tail = fill(new TailCache(1_000 * WEIGHT), ...starts.slice(0, size));
    for (let offset = 0; offset < 2 * size; offset += 1) {
      expect(offsets(readCached(tail, offset, 1))).toEqual([offset - (offset % 2)]);
    }
  }
});

test('an offset before the cached batches is a cache miss', () => {
  expect(readCached(fill(new TailCache(10 * WEIGHT), 10, 12), 9, 1_000)).toBeNull();
  expect(readCached(new Queue(), 0, 1_000)).toBeNull();
});

test('a read returns as many batches as fit, and at least one', () => {
  const tail = fill(new TailCache(10 * WEIGHT), 0, 2, 4);
  expect(offsets(readCached(tail, 0, 2 * SIZE))).toEqual([0, 2]);
  expect(offsets(readCached(tail, 0, 1))).toEqual([0]);
});

test('the oldest batch of all partitions is evicted first', () => {
  const cache = new TailCache(3 * WEIGHT);
  const [one, two] = [fill(cache, 0, 2), fill(cache, 0, 2)];
  expect([offsets(all(one)), offsets(all(two))]).toEqual([[2], [0, 2]]);
});

test('the cache stays within its limit', () => {
  const cache = new TailCache(4 * WEIGHT);
  const tail = fill(cache, ...Array.from({ length: 5_000 }, (_, n) => 2 * n));
  expect(offsets(all(tail))).toEqual([9992, 9994, 9996, 9998]);
});
