import { AT, type Batch, CONTROL, TRANSACTIONAL } from './batch.ts';
import { crc32c } from './crc32c.ts';

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
