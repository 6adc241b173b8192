import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { wallClockMs } from '@cpg/platform';
import type { Api, ApiRequest, Broker } from './api.ts';
import { type ErrorCode, errorCode, errorCodeOf, KafkaError } from '../errors.ts';
import { type BatchLimits, parseBatch } from '../records/batch.ts';
import type { TopicConfig } from '../storage/topic-config.ts';

interface Stored {
  readonly index: number;
  readonly error: ErrorCode;
  readonly baseOffset: number;
  readonly logStart: number;
}

const FORMAT_2_FROM = 3;

/** Stores record batches. Every value of `acks` acknowledges after the commit, except 0: that gets no response. */
export const produce: Api = {
  key: 0,
  name: 'Produce',
  min: 0,
  max: 7,
  pipelined: true,
  handle: async (request, broker) => {
    const { reader, version } = request;
    const transactionalId = version >= FORMAT_2_FROM ? reader.nullableString() : null;
    const acks = reader.int16();
    reader.int32(); // ignored: timeout
    const data = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({ index: reader.int32(), records: reader.nullableBytes() })),
    }));
    const refuseAll = acks < -1 || acks > 1 ? errorCode.invalidRequiredAcks : null;
    // All appends are submitted before the first await, so the next request of this connection is stored after them.
    const topics = await Promise.all(
      data.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(
          partitions.map(async ({ index, records }) =>
            refuseAll ? refused(index, refuseAll) : store(request, broker, { topic, index, records, transactionalId }),
          ),
        ),
      })),
    );
    if (acks === 0) return null;
    // Consumers that wait for these records are answered first.
    await yieldToEventLoop();
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

const store = async (
  { version }: ApiRequest,
  { catalogue, logWriter, settings }: Broker,
  sent: Sent,
): Promise<Stored> => {
  const { topic, index, records, transactionalId } = sent;
  try {
    const partition = catalogue.requirePartition(topic, index);
    if (version < FORMAT_2_FROM)
      throw new KafkaError(
        errorCode.unsupportedForMessageFormat,
        `Produce ${FORMAT_2_FROM} is the first version with record batches of format 2`,
      );
    const batch = parseBatch(records, limitsOf({ ...settings.topicDefaults, ...partition.topic.config }));
    if (batch.transactional && transactionalId === null) {
      throw new KafkaError(
        errorCode.transactionalIdAuthorizationFailed,
        'a transactional batch needs a transactional id',
      );
    }
    const baseOffset = await logWriter.append(partition, batch, transactionalId);
    return { index, error: errorCode.none, baseOffset, logStart: partition.logStart };
  } catch (error) {
    return refused(index, errorCodeOf(error, errorCode.storageError));
  }
};

const limitsOf = (config: TopicConfig): BatchLimits => {
  const now = wallClockMs();
  return {
    maxBytes: config['max.message.bytes'],
    minTimestamp: now - config['message.timestamp.before.max.ms'],
    maxTimestamp: now + config['message.timestamp.after.max.ms'],
  };
};
