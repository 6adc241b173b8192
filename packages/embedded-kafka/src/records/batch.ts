import { KafkaError, errorCode } from '../errors.ts';
import { safeInteger } from '../protocol/request-reader.ts';
import { crc32c } from './crc32c.ts';

/** A record batch of format 2 as a producer sent it. Only its header was read: the records may be compressed.
 *  Source: kafka.apache.org/documentation, "Message Format". */
export interface Batch {
  readonly bytes: Buffer;
  /** 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. */
  readonly compression: number;
  readonly transactional: boolean;
  readonly lastOffsetDelta: number;
  readonly maxTimestamp: number;
  /** -1 when the producer is not idempotent. */
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly baseSequence: number;
}

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

/** The one batch that a produce request may hold for a partition. Throws KafkaError with the real broker's code for what cannot
 *  be stored: an older format, more or less than one batch, a wrong checksum, more bytes than `maxBytes`, a control batch. */
export const parseBatch = (bytes: Buffer | null, maxBytes: number): Batch => {
  if (!bytes || bytes.length <= AT.magic) throw invalid('a produce request needs one record batch per partition');
  if (bytes[AT.magic] !== 2) throw invalid('only record batches of format 2 are taken');
  if (bytes.length > maxBytes)
    throw new KafkaError(errorCode.messageTooLarge, `${bytes.length} bytes, ${maxBytes} allowed`);
  const length = bytes.readInt32BE(AT.length) + AT.leaderEpoch;
  if (bytes.length < AT.records || length > bytes.length || length < AT.records) throw corrupt('the batch is cut off');
  if (length < bytes.length) throw invalid('a produce request takes one record batch per partition');
  if (crc32c(bytes, AT.attributes) !== bytes.readUInt32BE(AT.crc)) throw corrupt('the checksum is wrong');

  const attributes = bytes.readInt16BE(AT.attributes);
  if (attributes & CONTROL) throw invalid('clients do not write control batches');
  const compression = attributes & COMPRESSION;
  if (compression > ZSTD) throw new KafkaError(errorCode.unsupportedCompressionType, 'unknown compression');
  const lastOffsetDelta = bytes.readInt32BE(AT.lastOffsetDelta);
  if (lastOffsetDelta < 0 || bytes.readInt32BE(AT.count) !== lastOffsetDelta + 1)
    throw invalid('the record count is wrong');

  const producerId = safeInteger(bytes.readBigInt64BE(AT.producerId));
  const baseSequence = bytes.readInt32BE(AT.baseSequence);
  const producerEpoch = bytes.readInt16BE(AT.producerEpoch);
  if (producerId >= 0 && (baseSequence < 0 || producerEpoch < 0))
    throw invalid('an idempotent batch needs epoch and sequence');
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

/** Gives the batch its place in the log: base offset and leader epoch lie outside of the checksum. */
export const setBaseOffset = ({ bytes }: Batch, baseOffset: number, leaderEpoch: number): void => {
  bytes.writeBigInt64BE(BigInt(baseOffset), 0);
  bytes.writeInt32BE(leaderEpoch, AT.leaderEpoch);
};

export const baseOffsetOf = (bytes: Buffer): number => Number(bytes.readBigInt64BE(0));
export const lastOffsetOf = (bytes: Buffer): number => baseOffsetOf(bytes) + bytes.readInt32BE(AT.lastOffsetDelta);

const invalid = (message: string) => new KafkaError(errorCode.invalidRecord, message);
const corrupt = (message: string) => new KafkaError(errorCode.corruptMessage, message);
