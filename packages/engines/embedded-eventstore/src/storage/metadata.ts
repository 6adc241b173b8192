import { isMetastream, TOMBSTONE } from '../events.ts';

/** Limits in a stream's metadata on which of its events can be read. */
export interface Retention {
  readonly maxCount?: bigint;
  readonly maxAgeSeconds?: number;
  /** `$tb`: events before this revision are hidden. TOMBSTONE means that the stream is soft-deleted. */
  readonly truncateBefore?: bigint;
}

const KEEP_ALL: Retention = {};
const METASTREAM: Retention = { maxCount: 1n };

/** Retention of `stream`. `raw` is the data of its last `$metadata` event, null without one.
 *  As in EventStoreDB, metadata that is not JSON or has values of the wrong type limits nothing. */
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
export const SOFT_DELETE_METADATA = Buffer.from(`{"$tb":${TOMBSTONE}}`);

/** `raw` without its soft delete: only events before `revision` stay hidden. Null if `raw` is not JSON. */
export const undeleteMetadata = (raw: Uint8Array | null, revision: bigint): Buffer | null => {
  const json = parse(raw);
  return json && Buffer.from(JSON.stringify({ ...json, $tb: Number(revision) }));
};

/** The lowest revision that may be read when the last one is `last`. */
export const firstReadableRevision = ({ maxCount, truncateBefore }: Retention, last: bigint): bigint => {
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

// JSON.parse rounds 2^63 - 1 to 2^63, because a double cannot represent it.
const truncationOf = (tb: number): bigint => (tb >= 2 ** 63 ? TOMBSTONE : BigInt(tb));
