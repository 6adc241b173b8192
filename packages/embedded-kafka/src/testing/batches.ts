import { AT } from '../records/batch.ts';
import { crc32c } from '../records/crc32c.ts';
import type { RawClient } from './raw-client.ts';

export interface BatchOptions {
  readonly producerId?: number;
  readonly epoch?: number;
  readonly sequence?: number;
  readonly attributes?: number;
  readonly timestamp?: number;
}

/** A record batch of format 2 with one record per value. All records have the same timestamp (ms). */
export const batchOf = (values: readonly string[], options: BatchOptions = {}): Buffer => {
  const { producerId = -1, epoch = -1, sequence = -1, attributes = 0, timestamp = 1_700_000_000_000 } = options;
  const records = Buffer.concat(values.map(record));
  const header = Buffer.alloc(AT.records);
  header.writeInt32BE(AT.records + records.length - AT.leaderEpoch, AT.length);
  header.writeInt32BE(-1, AT.leaderEpoch);
  header.writeInt8(2, AT.magic);
  header.writeInt16BE(attributes, AT.attributes);
  header.writeInt32BE(values.length - 1, AT.lastOffsetDelta);
  header.writeBigInt64BE(BigInt(timestamp), AT.baseTimestamp);
  header.writeBigInt64BE(BigInt(timestamp), AT.maxTimestamp);
  header.writeBigInt64BE(BigInt(producerId), AT.producerId);
  header.writeInt16BE(epoch, AT.producerEpoch);
  header.writeInt32BE(sequence, AT.baseSequence);
  header.writeInt32BE(values.length, AT.count);
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

const record = (value: string, offsetDelta: number): Buffer => {
  const bytes = Buffer.from(value);
  const body = Buffer.concat([
    Buffer.from([0]),
    varint(0),
    varint(offsetDelta),
    varint(-1),
    varint(bytes.length),
    bytes,
    varint(0),
  ]);
  return Buffer.concat([varint(body.length), body]);
};

const varint = (value: number): Buffer => {
  const bytes: number[] = [];
  let rest = value < 0 ? -2 * value - 1 : 2 * value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
};
