import { KafkaError, errorCode } from '../errors.ts';
import { safeInteger } from '../safe-integer.ts';
import { crc32c } from './crc32c.ts';

/** The header fields of a record batch of format 2, and its bytes. The records may be compressed and are not read.
 *  Source: kafka.apache.org/documentation, "Message Format". */
export interface Batch {
  readonly bytes: Buffer;
  /** 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. */
  readonly compression: number;
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

export const TRANSACTIONAL = 0x10;
export const CONTROL = 0x20;
export const COMPRESSION = 0x07;
const ZSTD = 4;

/** Parses the records of a produce request for one partition: exactly one batch. Throws KafkaError, with the code of
 *  Apache Kafka, for an older format, another number of batches, a wrong checksum, more than `maxBytes` bytes, or a
 *  control batch. */
export const parseBatch = (bytes: Buffer | null, maxBytes: number): Batch => {
  if (!bytes || bytes.length <= AT.magic)
    throw invalid('a produce request has one record batch per partition, not none');
  if (bytes[AT.magic] !== 2) throw invalid('only record batches of format 2 are supported');
  if (bytes.length > maxBytes)
    throw new KafkaError(errorCode.messageTooLarge, `the batch has ${bytes.length} bytes, ${maxBytes} are allowed`);
  const length = bytes.readInt32BE(AT.length) + AT.leaderEpoch;
  if (bytes.length < AT.records || length > bytes.length || length < AT.records)
    throw corrupt('the batch is incomplete');
  if (length < bytes.length) throw invalid('a produce request has one record batch per partition, not several');
  if (crc32c(bytes, AT.attributes) !== bytes.readUInt32BE(AT.crc)) throw corrupt('the checksum is wrong');

  const attributes = bytes.readInt16BE(AT.attributes);
  if (attributes & CONTROL) throw invalid('clients must not write control batches');
  const compression = attributes & COMPRESSION;
  if (compression > ZSTD) throw new KafkaError(errorCode.unsupportedCompressionType, 'the compression type is unknown');
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
  return {
    bytes,
    compression,
    transactional,
    lastOffsetDelta,
    maxTimestamp: safeInteger(bytes.readBigInt64BE(AT.maxTimestamp)),
    producerId,
    producerEpoch,
    baseSequence,
  };
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
