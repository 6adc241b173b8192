import { isMetastream, TOMBSTONE } from '../events.ts';

/** What a stream's metadata says about which of its events can be read. */
export interface Retention {
  readonly maxCount?: bigint;
  readonly maxAgeSeconds?: number;
  /** `$tb`: events below this revision are gone; TOMBSTONE is a soft delete. */
  readonly truncateBefore?: bigint;
}

const KEEP_ALL: Retention = {};
const METASTREAM: Retention = { maxCount: 1n };

/** Retention of `stream`, whose last `$metadata` event holds `raw` (null if it has none). Metadata that is not
 *  JSON, or has values of the wrong kind, keeps everything, as in EventStoreDB. */
export const retentionOf = (stream: string, raw: Uint8Array | null): Retention => {
  if (isMetastream(stream)) return METASTREAM;
  const json = parse(raw);
  if (!json) return KEEP_ALL;
  const { $maxCount, $maxAge, $tb } = json;
  if ([$maxCount, $maxAge, $tb].some((value) => value !== undefined && !Number.isInteger(value))) return KEEP_ALL;
  return {
    ...(isPositive($maxCount) && { maxCount: BigInt($maxCount) }),
    ...(isPositive($maxAge) && { maxAgeSeconds: $maxAge }),
    ...(typeof $tb === 'number' && $tb >= 0 && { truncateBefore: truncationOf($tb) }),
  };
};

export const isSoftDeleted = (retention: Retention): boolean => retention.truncateBefore === TOMBSTONE;

/** The metadata that soft-deletes a stream. */
export const SOFT_DELETED = Buffer.from(`{"$tb":${TOMBSTONE}}`);

/** `raw` with its soft delete lifted: events from `revision` on can be read. Null if `raw` is not JSON. */
export const undeleted = (raw: Uint8Array | null, revision: bigint): Buffer | null => {
  const json = parse(raw);
  return json && Buffer.from(JSON.stringify({ ...json, $tb: Number(revision) }));
};

/** The lowest revision that may be read when the last one is `last`. */
export const firstReadable = ({ maxCount, truncateBefore }: Retention, last: bigint): bigint => {
  const counted = maxCount === undefined ? 0n : last - maxCount + 1n;
  const truncated = truncateBefore ?? 0n;
  return counted > truncated ? counted : truncated;
};

const parse = (raw: Uint8Array | null): Record<string, unknown> | null => {
  try {
    const json: unknown = raw && JSON.parse(Buffer.from(raw).toString());
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

const isPositive = (value: unknown): value is number => typeof value === 'number' && value > 0;

// 2^63 - 1 is no double: JSON.parse rounds it to 2^63.
const truncationOf = (tb: number): bigint => (tb >= 2 ** 63 ? TOMBSTONE : BigInt(tb));
