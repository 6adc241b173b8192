import { LRUCache } from 'lru-cache';

const MAX_ENTRIES = 5_000;
/** About 5000 typical orders, or 170 of the largest possible ones. */
const MAX_BYTES = 64 * 1024 * 1024;

/** An LRU cache of values by stream name, bounded in bytes because clients decide how large a state gets. */
export const streamCache = <T extends object>(): LRUCache<string, T> =>
  new LRUCache<string, T>({ max: MAX_ENTRIES, maxSize: MAX_BYTES, sizeCalculation: estimateBytes });

/** Estimates the memory that a value takes. */
export const estimateBytes = (value: unknown): number => {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 16;
  let bytes = 32;
  for (const inner of Object.values(value)) bytes += estimateBytes(inner);
  return bytes;
};
