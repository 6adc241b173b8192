import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AT, COMPRESSION, baseOffsetOf } from './batch.ts';

const NONE = 0;
const GZIP = 1;
const LARGEST_UNZIPPED = 64 * 1024 * 1024;

/** The first record of a stored batch at `offset` or later whose time is `timestamp` (ms) or later, or null. In a batch whose
 *  compression cannot be undone here the first record stands for all: earlier than asked for, never too late. */
export const firstRecordAtOrAfter = async (batch: Buffer, timestamp: number, offset: number) => {
  const maxTimestamp = Number(batch.readBigInt64BE(AT.maxTimestamp));
  if (maxTimestamp < timestamp) return null;
  const baseOffset = baseOffsetOf(batch);
  const records = await uncompressed(batch);
  if (!records) return { offset: Math.max(baseOffset, offset), timestamp: maxTimestamp };
  const baseTimestamp = Number(batch.readBigInt64BE(AT.baseTimestamp));
  for (const record of heads(records)) {
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
      return promisify(gunzip)(records, { maxOutputLength: LARGEST_UNZIPPED }).catch(() => null);
    default:
      return null;
  }
};

/** What each record says before its key. Ends early where the records are not what the format says. */
function* heads(records: Buffer): Generator<{ timestampDelta: number; offsetDelta: number }> {
  for (let at = 0; at < records.length;) {
    const length = varint(records, at);
    const timestampDelta = varint(records, length.end + 1);
    const offsetDelta = varint(records, timestampDelta.end);
    if (length.value < 3 || length.end + length.value > records.length) return;
    yield { timestampDelta: timestampDelta.value, offsetDelta: offsetDelta.value };
    at = length.end + length.value;
  }
}

/** A zigzag-encoded number; bytes beyond the end count as zero. */
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
