import type { Api, Broker } from './api.ts';
import { errorCode, errorCodeOf, KafkaError } from '../errors.ts';
import { firstRecordAtOrAfter, lastOffsetOf } from '../records/batch.ts';
import { checkLeaderEpoch, lastStableOffset, LEADER_EPOCH, type Partition } from '../storage/partition.ts';

const LATEST = -1;
const EARLIEST = -2;
const READ_COMMITTED = 1;
const NOT_FOUND = { offset: -1, timestamp: -1 };
const PAGE_BYTES = 1024 * 1024;

/** Finds the first offset, the last offset, or the first record at or after a timestamp. */
export const listOffsets: Api = {
  key: 2,
  name: 'ListOffsets',
  min: 1,
  max: 5,
  handle: async ({ reader, version }, broker) => {
    reader.int32(); // ignored: replica id
    const readCommitted = version >= 2 && reader.int8() === READ_COMMITTED;
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => {
        const index = reader.int32();
        const leaderEpoch = version >= 4 ? reader.int32() : -1;
        return { index, leaderEpoch, timestamp: reader.int64() };
      }),
    }));
    const results = await Promise.all(
      topics.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(partitions.map((query) => find(broker, topic, { ...query, readCommitted }))),
      })),
    );
    return (response) => {
      if (version >= 2) response.int32(0); // throttle time
      response.array(results, ({ topic, partitions }) => {
        response.string(topic).array(partitions, ({ index, error, timestamp, offset }) => {
          response.int32(index).int16(error).int64(timestamp).int64(offset);
          if (version >= 4) response.int32(offset < 0 ? -1 : LEADER_EPOCH);
        });
      });
    };
  },
};

interface OffsetQuery {
  readonly index: number;
  readonly leaderEpoch: number;
  readonly timestamp: number;
  /** Isolation level `read_committed`: ignores the records from the last stable offset on. */
  readonly readCommitted: boolean;
}

const find = async (broker: Broker, topic: string, query: OffsetQuery) => {
  const { index, timestamp } = query;
  try {
    const partition = broker.catalogue.requirePartition(topic, index);
    checkLeaderEpoch(query.leaderEpoch);
    const end = query.readCommitted ? lastStableOffset(partition) : partition.logEnd;
    return { index, error: errorCode.none, ...(await resolve(broker, partition, timestamp, end)) };
  } catch (error) {
    return { index, error: errorCodeOf(error, errorCode.storageError), ...NOT_FOUND };
  }
};

const resolve = async ({ logReader }: Broker, partition: Partition, timestamp: number, end: number) => {
  if (timestamp === LATEST) return { offset: end, timestamp: -1 };
  if (timestamp === EARLIEST) return { offset: partition.logStart, timestamp: -1 };
  if (timestamp < 0)
    throw new KafkaError(errorCode.unsupportedVersion, `${timestamp} has no meaning in this version of ListOffsets`);
  const start = await logReader.firstBatchAtOrAfter(partition, timestamp);
  if (start === null) return NOT_FOUND;
  // The record is usually in the first batch. Only if that record was deleted, later batches are searched.
  for (let offset = Math.max(start, partition.logStart); ;) {
    const batches = await logReader.read(partition, offset, PAGE_BYTES, end);
    if (batches.length === 0) return NOT_FOUND;
    for (const batch of batches) {
      const record = firstRecordAtOrAfter(batch, timestamp, partition.logStart);
      if (record) return record;
    }
    offset = lastOffsetOf(batches.at(-1)!) + 1;
  }
};
