import { AT } from '../records/batch.ts';
import { crc32c } from '../records/crc32c.ts';
import type { RawClient } from './raw-client.ts';

export const NO_LIMITS = { maxBytes: Infinity, minTimestamp: -Infinity, maxTimestamp: Infinity };

export interface BatchOptions {
  readonly baseOffset?: number;
  /** The number of records, and the offset of the last one, if they are not the true ones. */
  readonly count?: number;
  readonly lastOffsetDelta?: number;
  /** The largest timestamp in the header, if it is not the true one. */
  readonly maxTimestamp?: number;
  readonly producerId?: number;
  readonly epoch?: number;
  readonly sequence?: number;
  readonly attributes?: number;
  readonly timestamp?: number;
}

/** A record batch of format 2 with one record per value. All records have the same timestamp (ms). */
export const batchOf = (values: readonly string[], options: BatchOptions = {}): Buffer =>
  batchWith(recordsOf(values), { count: values.length, ...options });

/** The bytes of one record per value. */
export const recordsOf = (values: readonly string[]): Buffer =>
  Buffer.concat(values.map((value, offsetDelta) => recordOf(value, { offsetDelta })));

/** A record batch of format 2 with the given bytes as records. */
export const batchWith = (records: Buffer, options: BatchOptions = {}): Buffer => {
  const { producerId = -1, epoch = -1, sequence = -1, attributes = 0, timestamp = Date.now() } = options;
  const { baseOffset = 0, count = 1, lastOffsetDelta = count - 1, maxTimestamp = timestamp } = options;
  const header = Buffer.alloc(AT.records);
  header.writeBigInt64BE(BigInt(baseOffset), 0);
  header.writeInt32BE(AT.records + records.length - AT.leaderEpoch, AT.length);
  header.writeInt32BE(-1, AT.leaderEpoch);
  header.writeInt8(2, AT.magic);
  header.writeInt16BE(attributes, AT.attributes);
  header.writeInt32BE(lastOffsetDelta, AT.lastOffsetDelta);
  header.writeBigInt64BE(BigInt(timestamp), AT.baseTimestamp);
  header.writeBigInt64BE(BigInt(maxTimestamp), AT.maxTimestamp);
  header.writeBigInt64BE(BigInt(producerId), AT.producerId);
  header.writeInt16BE(epoch, AT.producerEpoch);
  header.writeInt32BE(sequence, AT.baseSequence);
  header.writeInt32BE(count, AT.count);
  return withChecksum(Buffer.concat([header, records]));
};

/** Writes the checksum of the current bytes into the batch. */
export const withChecksum = (batch: Buffer): Buffer => {
  batch.writeUInt32BE(crc32c(batch, AT.attributes), AT.crc);
  return batch;
};

export interface Produced {
  readonly error: number;
  readonly baseOffset: number;
}

/** Sends a produce request for partition 0 of `topic`. */
export const sendBatch = async (
  client: RawClient,
  topic: string,
  records: Buffer | null,
  { version = 7, transactionalId = null }: { version?: number; transactionalId?: string | null } = {},
): Promise<Produced> => {
  const response = await client.request(0, version, (body) => {
    if (version >= 3) body.string(transactionalId);
    body.int16(-1).int32(1000);
    body.array([topic], (name) => body.string(name).array([0], (index) => body.int32(index).bytes(records)));
  });
  const [partition] = response.array(() => {
    response.string();
    return response.array(() => {
      response.int32();
      const produced = { error: response.int16(), baseOffset: response.int64() };
      if (version >= 2) response.int64();
      if (version >= 5) response.int64();
      return produced;
    });
  });
  return partition![0]!;
};

export interface RecordOptions {
  readonly offsetDelta?: number;
  readonly timestampDelta?: number;
  readonly headers?: number;
  /** Added to the true lengths. */
  readonly lengthError?: number;
  readonly valueLengthError?: number;
}

/** The bytes of a record without a key. Its headers are missing. */
export const recordOf = (value: string, options: RecordOptions = {}): Buffer => {
  const { offsetDelta = 0, timestampDelta = 0, headers = 0, lengthError = 0, valueLengthError = 0 } = options;
  const bytes = Buffer.from(value);
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(timestampDelta),
    varint(offsetDelta),
    varint(-1),
    varint(bytes.length + valueLengthError),
    bytes,
    varint(headers),
  ]);
  return Buffer.concat([varint(body.length + lengthError), body]);
};

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value < 0 ? -2 * value - 1 : 2 * value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
};
