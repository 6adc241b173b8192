import { AT, COMPRESSION_BITS, baseOffsetOf } from './batch.ts';
import { decompress, recordsIn } from './records.ts';

/** The first record of a stored batch at `offset` or later with a time of `timestamp` (ms) or later, or null. */
export const firstRecordAtOrAfter = (batch: Buffer, timestamp: number, offset: number) => {
  const maxTimestamp = Number(batch.readBigInt64BE(AT.maxTimestamp));
  if (maxTimestamp < timestamp) return null;
  const baseOffset = baseOffsetOf(batch);
  const baseTimestamp = Number(batch.readBigInt64BE(AT.baseTimestamp));
  const compression = batch.readInt16BE(AT.attributes) & COMPRESSION_BITS;
  for (const record of recordsIn(decompress(compression, batch.subarray(AT.records)))) {
    const found = { offset: baseOffset + record.offsetDelta, timestamp: baseTimestamp + record.timestampDelta };
    if (found.offset >= offset && found.timestamp >= timestamp) return found;
  }
  return null;
};
