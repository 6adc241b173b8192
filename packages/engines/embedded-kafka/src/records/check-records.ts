import { KafkaError, errorCode } from '../errors.ts';
import { MalformedRecords, decompress, recordsIn } from './records.ts';

/** The timestamp of a record without one. */
const NO_TIMESTAMP = -1;

export interface ExpectedRecords {
  readonly compression: number;
  readonly count: number;
  /** In ms since 1970, like the limits. */
  readonly baseTimestamp: number;
  readonly limits: { readonly minTimestamp: number; readonly maxTimestamp: number };
}

/** Returns the largest timestamp, or -1. Throws KafkaError if `records` are not `count` records with the offsets 0, 1,
 *  2, ... relative to their batch, or if a timestamp is beyond the limits. */
export const checkRecords = (
  records: Buffer,
  { compression, count, baseTimestamp, limits }: ExpectedRecords,
): number => {
  let found = 0;
  let largest = NO_TIMESTAMP;
  try {
    for (const { offsetDelta, timestampDelta } of recordsIn(contentOf(records, compression))) {
      if (offsetDelta !== found) throw invalid(`record ${found} has the offset ${offsetDelta} in its batch`);
      found += 1;
      if (found > count) break;
      const timestamp = baseTimestamp + timestampDelta;
      if (timestamp !== NO_TIMESTAMP && (timestamp < limits.minTimestamp || timestamp > limits.maxTimestamp))
        throw new KafkaError(errorCode.invalidTimestamp, `the timestamp ${timestamp} is too far from the time now`);
      largest = Math.max(largest, timestamp);
    }
  } catch (error) {
    throw error instanceof MalformedRecords ? invalid(error.message) : error;
  }
  if (found !== count) throw invalid(`the batch does not have ${count} records`);
  return largest;
};

const contentOf = (records: Buffer, compression: number): Buffer => {
  try {
    return decompress(compression, records);
  } catch (error) {
    throw invalid(`the records cannot be decompressed: ${(error as Error).message}`);
  }
};

const invalid = (message: string) => new KafkaError(errorCode.invalidRecord, message);
