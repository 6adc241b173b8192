import { errorCode, KafkaError } from '../errors.ts';
import { safeInteger } from '../protocol/request-reader.ts';
import { crc32c } from './crc32c.ts';
import { COMPRESSION, decompress, MalformedRecords, recordsIn } from './records.ts';

/** The header fields of a record batch of format 2, and its bytes.
 *  Source: kafka.apache.org/documentation, "Message Format". */
export interface Batch {
  readonly bytes: Buffer;
  readonly transactional: boolean;
  readonly lastOffsetDelta: number;
  readonly maxTimestamp: number;
  /** -1 if the producer is not idempotent. */
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
}

/** Positions of the header fields in a batch. `crc` covers the bytes from `attributes` on. */
export const AT = {
  length: 8,
  leaderEpoch: 12,
  magic: 16,
  crc: 17,
  attributes: 21,
  lastOffsetDelta: 23,
  baseTimestamp: 27,
  maxTimestamp: 35,
  producerId: 43,
  producerEpoch: 51,
  baseSequence: 53,
  count: 57,
  records: 61,
} as const;

const TRANSACTIONAL = 0x10;
export const CONTROL = 0x20;
const COMPRESSION_BITS = 0x07;
const LOG_APPEND_TIME = 0x08;

export interface BatchLimits {
  readonly maxBytes: number;
  /** The timestamps that records may have, in ms since 1970. */
  readonly minTimestamp: number;
  readonly maxTimestamp: number;
}

/** Parses the records of a produce request for one partition: exactly one batch. Reads every record, so that no
 *  consumer meets a batch that it cannot read. Corrects the largest timestamp in the header. Throws KafkaError, with
 *  the code of Apache Kafka, for an older format, another number of batches, a wrong checksum, a control batch, a false
 *  number or length of records, and for anything beyond `limits`. */
export const parseBatch = (bytes: Buffer | null, limits: BatchLimits): Batch => {
  if (!bytes || bytes.length <= AT.magic)
    throw invalid('a produce request has one record batch per partition, not none');
  if (bytes[AT.magic] !== 2) throw invalid('only record batches of format 2 are supported');
  if (bytes.length > limits.maxBytes)
    throw new KafkaError(
      errorCode.messageTooLarge,
      `the batch has ${bytes.length} bytes, ${limits.maxBytes} are allowed`,
    );
  const length = bytes.readInt32BE(AT.length) + AT.leaderEpoch;
  if (bytes.length < AT.records || length > bytes.length || length < AT.records)
    throw corrupt('the batch is incomplete');
  if (length < bytes.length) throw invalid('a produce request has one record batch per partition, not several');
  if (crc32c(bytes, AT.attributes) !== bytes.readUInt32BE(AT.crc)) throw corrupt('the checksum is wrong');

  if (bytes.readBigInt64BE(0) !== 0n) throw invalid('the base offset of a new batch is 0');
  const attributes = bytes.readInt16BE(AT.attributes);
  if (attributes & CONTROL) throw invalid('clients must not write control batches');
  const compression = attributes & COMPRESSION_BITS;
  if (compression > COMPRESSION.gzip)
    throw new KafkaError(
      errorCode.unsupportedCompressionType,
      'gzip is the only compression that this broker supports',
    );
  const lastOffsetDelta = bytes.readInt32BE(AT.lastOffsetDelta);
  if (lastOffsetDelta < 0 || bytes.readInt32BE(AT.count) !== lastOffsetDelta + 1)
    throw invalid('the record count is wrong');

  const producerId = safeInteger(bytes.readBigInt64BE(AT.producerId));
  const baseSequence = bytes.readInt32BE(AT.baseSequence);
  const producerEpoch = bytes.readInt16BE(AT.producerEpoch);
  if (producerId >= 0 && (baseSequence < 0 || producerEpoch < 0))
    throw invalid('an idempotent batch needs an epoch and a sequence');
  const transactional = (attributes & TRANSACTIONAL) !== 0;
  if (transactional && producerId < 0) throw invalid('a transactional batch needs a producer id');
  const maxTimestamp = checkRecords(bytes.subarray(AT.records), {
    compression,
    count: lastOffsetDelta + 1,
    baseTimestamp: safeInteger(bytes.readBigInt64BE(AT.baseTimestamp)),
    limits,
  });
  correctHeader(bytes, attributes & ~LOG_APPEND_TIME, maxTimestamp);
  return {
    bytes,
    transactional,
    lastOffsetDelta,
    maxTimestamp,
    producerId,
    producerEpoch,
    baseSequence,
  };
};

/** Like Apache Kafka, trusts the records more than the header: readers search by the largest timestamp, and retention
 *  would never delete a batch from the future. */
const correctHeader = (bytes: Buffer, attributes: number, maxTimestamp: number): void => {
  if (bytes.readInt16BE(AT.attributes) === attributes && bytes.readBigInt64BE(AT.maxTimestamp) === BigInt(maxTimestamp))
    return;
  bytes.writeInt16BE(attributes, AT.attributes);
  bytes.writeBigInt64BE(BigInt(maxTimestamp), AT.maxTimestamp);
  bytes.writeUInt32BE(crc32c(bytes, AT.attributes), AT.crc);
};

/** Writes the base offset and the leader epoch into the batch. The checksum does not cover them. */
export const setBaseOffset = ({ bytes }: Batch, baseOffset: number, leaderEpoch: number): void => {
  bytes.writeBigInt64BE(BigInt(baseOffset), 0);
  bytes.writeInt32BE(leaderEpoch, AT.leaderEpoch);
};

export const baseOffsetOf = (bytes: Buffer): number => Number(bytes.readBigInt64BE(0));
export const lastOffsetOf = (bytes: Buffer): number => baseOffsetOf(bytes) + bytes.readInt32BE(AT.lastOffsetDelta);

const invalid = (message: string) => new KafkaError(errorCode.invalidRecord, message);
const corrupt = (message: string) => new KafkaError(errorCode.corruptMessage, message);

/** The timestamp of a record without one. */
const NO_TIMESTAMP = -1;

interface ExpectedRecords {
  readonly compression: number;
  readonly count: number;
  /** In ms since 1970, like the limits. */
  readonly baseTimestamp: number;
  readonly limits: { readonly minTimestamp: number; readonly maxTimestamp: number };
}

/** Returns the largest timestamp, or -1. Throws KafkaError if `records` are not `count` records with the offsets 0, 1,
 *  2, ... relative to their batch, or if a timestamp is beyond the limits. */
const checkRecords = (records: Buffer, { compression, count, baseTimestamp, limits }: ExpectedRecords): number => {
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

export interface Marker {
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly committed: boolean;
  /** In ms since 1970. */
  readonly timestamp: number;
}

const ABORT = 0;
const COMMIT = 1;
/** The lengths of the record, its key and its value (16, 4 and 6 bytes) as zigzag varints. */
const [RECORD_LENGTH, KEY_LENGTH, VALUE_LENGTH] = [32, 8, 12];

/** The marker that ends a transaction in a log: a batch with one control record.
 *  Source: kafka.apache.org/documentation, "Control Batches". */
export const controlBatch = ({ producerId, producerEpoch, committed, timestamp }: Marker): Batch => {
  const type = committed ? COMMIT : ABORT;
  const record = Buffer.from([RECORD_LENGTH, 0, 0, 0, KEY_LENGTH, 0, 0, 0, type, VALUE_LENGTH, 0, 0, 0, 0, 0, 0, 0]);
  const bytes = Buffer.concat([Buffer.alloc(AT.records), record]);
  bytes.writeInt32BE(bytes.length - AT.leaderEpoch, AT.length);
  bytes.writeInt8(2, AT.magic);
  bytes.writeInt16BE(TRANSACTIONAL | CONTROL, AT.attributes);
  bytes.writeBigInt64BE(BigInt(timestamp), AT.baseTimestamp);
  bytes.writeBigInt64BE(BigInt(timestamp), AT.maxTimestamp);
  bytes.writeBigInt64BE(BigInt(producerId), AT.producerId);
  bytes.writeInt16BE(producerEpoch, AT.producerEpoch);
  bytes.writeInt32BE(-1, AT.baseSequence);
  bytes.writeInt32BE(1, AT.count);
  bytes.writeUInt32BE(crc32c(bytes, AT.attributes), AT.crc);
  return {
    bytes,
    transactional: true,
    lastOffsetDelta: 0,
    maxTimestamp: timestamp,
    producerId,
    producerEpoch,
    baseSequence: -1,
  };
};

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
