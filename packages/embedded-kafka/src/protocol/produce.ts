import type { Api, Broker, ApiRequest } from '../broker.ts';
import { parseBatch } from '../records/batch.ts';
import { type ErrorCode, KafkaError, errorCode, errorCodeOf } from '../errors.ts';

interface Stored {
  readonly index: number;
  readonly error: ErrorCode;
  readonly baseOffset: number;
  readonly logStart: number;
}

const FORMAT_2_FROM = 3;
const ZSTD_FROM = 7;
const ZSTD = 4;

/** Any acks mean the same here: stored, then acknowledged. With acks 0 there is no answer to send. */
export const produce: Api = {
  key: 0,
  name: 'Produce',
  min: 0,
  max: 7,
  pipelined: true,
  handle: async (call, broker) => {
    const { reader, version } = call;
    const transactionalId = version >= FORMAT_2_FROM ? reader.nullableString() : null;
    const acks = reader.int16();
    reader.int32(); // timeout
    const data = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({ index: reader.int32(), records: reader.nullableBytes() })),
    }));
    const refuseAll = acks < -1 || acks > 1 ? errorCode.invalidRequiredAcks : null;
    // All appends are handed over before the first wait: the next request of this connection comes after them.
    const topics = await Promise.all(
      data.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(
          partitions.map(async ({ index, records }) =>
            refuseAll ? refused(index, refuseAll) : store(call, broker, { topic, index, records, transactionalId }),
          ),
        ),
      })),
    );
    if (acks === 0) return null;
    return (response) => {
      response.array(topics, ({ topic, partitions }) => {
        response.string(topic).array(partitions, ({ index, error, baseOffset, logStart }) => {
          response.int32(index).int16(error).int64(baseOffset);
          if (version >= 2) response.int64(-1); // log append time
          if (version >= 5) response.int64(logStart);
        });
      });
      if (version >= 1) response.int32(0); // throttle time
    };
  },
};

const refused = (index: number, error: ErrorCode): Stored => ({ index, error, baseOffset: -1, logStart: -1 });

interface Sent {
  readonly topic: string;
  readonly index: number;
  readonly records: Buffer | null;
  readonly transactionalId: string | null;
}

const store = async ({ version }: ApiRequest, { catalogue, log, settings }: Broker, sent: Sent): Promise<Stored> => {
  const { topic, index, records, transactionalId } = sent;
  try {
    const partition = catalogue.requirePartition(topic, index);
    if (version < FORMAT_2_FROM)
      throw new KafkaError(errorCode.unsupportedForMessageFormat, 'these versions carry old formats only');
    const { 'max.message.bytes': maxBytes } = { ...settings.topicDefaults, ...partition.topic.config };
    const batch = parseBatch(records, maxBytes);
    if (batch.compression === ZSTD && version < ZSTD_FROM) {
      throw new KafkaError(errorCode.unsupportedCompressionType, `zstd needs Produce ${ZSTD_FROM}`);
    }
    if (batch.transactional && transactionalId === null) {
      throw new KafkaError(errorCode.transactionalIdAuthorizationFailed, 'a transaction needs its transactional id');
    }
    const baseOffset = await log.append(partition, batch, transactionalId);
    return { index, error: errorCode.none, baseOffset, logStart: partition.logStart };
  } catch (error) {
    return refused(index, errorCodeOf(error, errorCode.storageError));
  }
};
