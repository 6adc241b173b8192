import { LRUCache } from 'lru-cache';

const ENTRIES_AT_MOST = 5_000;
/** 5000 orders as they usually are, or some 170 of the largest that can be made. */
const BYTES_AT_MOST = 64 * 1024 * 1024;

/** What was seen of streams, by name, those seen last: as many as fit, for states are as large as those who make them like. */
export const rememberedStreams = <T extends object>(): LRUCache<string, T> =>
  new LRUCache<string, T>({ max: ENTRIES_AT_MOST, maxSize: BYTES_AT_MOST, sizeCalculation: roughBytes });

/** About how much memory a value takes. */
const roughBytes = (value: unknown): number => {
  if (typeof value === 'string') return 24 + value.length;
  if (typeof value !== 'object' || value === null) return 16;
  let bytes = 32;
  for (const inner of Object.values(value)) bytes += roughBytes(inner);
  return bytes;
};
