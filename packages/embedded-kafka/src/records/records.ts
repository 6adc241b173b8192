import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AT, COMPRESSION, baseOffsetOf } from './batch.ts';

const NONE = 0;
const GZIP = 1;
const MAX_UNZIPPED_BYTES = 64 * 1024 * 1024;

/** The first record of a stored batch at `offset` or later with a time of `timestamp` (ms) or later, or null. For a
 *  batch that cannot be decompressed, returns its first record: consumers then start too early, never too late. */
export const firstRecordAtOrAfter = async (batch: Buffer, timestamp: number, offset: number) => {
  const maxTimestamp = Number(batch.readBigInt64BE(AT.maxTimestamp));
  if (maxTimestamp < timestamp) return null;
  const baseOffset = baseOffsetOf(batch);
  const records = await uncompressed(batch);
  if (!records) return { offset: Math.max(baseOffset, offset), timestamp: maxTimestamp };
  const baseTimestamp = Number(batch.readBigInt64BE(AT.baseTimestamp));
  for (const record of recordDeltas(records)) {
    const found = { offset: baseOffset + record.offsetDelta, timestamp: baseTimestamp + record.timestampDelta };
    if (found.offset >= offset && found.timestamp >= timestamp) return found;
  }
  return null;
};

const uncompressed = async (batch: Buffer): Promise<Buffer | null> => {
  const records = batch.subarray(AT.records);
  switch (batch.readInt16BE(AT.attributes) & COMPRESSION) {
    case NONE:
      return records;
    case GZIP:
      return promisify(gunzip)(records, { maxOutputLength: MAX_UNZIPPED_BYTES }).catch(() => null);
    default:
      return null;
  }
};

/** The timestamp and offset of each record, relative to the batch. Ends early if the records are malformed. */
function* recordDeltas(records: Buffer): Generator<{ timestampDelta: number; offsetDelta: number }> {
  for (let at = 0; at < records.length;) {
    const length = varint(records, at);
    const timestampDelta = varint(records, length.end + 1);
    const offsetDelta = varint(records, timestampDelta.end);
    if (length.value < 3 || length.end + length.value > records.length) return;
    yield { timestampDelta: timestampDelta.value, offsetDelta: offsetDelta.value };
    at = length.end + length.value;
  }
}

/** Reads a zigzag varint. Bytes beyond the end count as zero. */
const varint = (bytes: Buffer, from: number): { value: number; end: number } => {
  let zigzag = 0n;
  let end = from;
  for (let shift = 0n; shift < 70n; shift += 7n) {
    const byte = bytes[end++] ?? 0;
    zigzag |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return { value: Number((zigzag >> 1n) ^ -(zigzag & 1n)), end };
};
