import type { Api, Broker } from '../broker.ts';
import { firstRecordAtOrAfter } from '../records/records.ts';
import { lastOffsetOf } from '../records/batch.ts';
import { LEADER_EPOCH, type Partition, lastStableOffset } from '../storage/catalogue.ts';
import { checkEpoch } from './fetch.ts';
import { errorCode, errorCodeOf } from '../errors.ts';

const LATEST = -1;
const EARLIEST = -2;
const READ_COMMITTED = 1;
const NOT_FOUND = { offset: -1, timestamp: -1 };
const PAGE_BYTES = 1024 * 1024;

/** Where a log starts and ends, and the first record of a point in time or later. */
export const listOffsets: Api = {
  key: 2,
  name: 'ListOffsets',
  min: 1,
  max: 5,
  handle: async ({ reader, version }, broker) => {
    reader.int32(); // replica id
    const committedOnly = version >= 2 && reader.int8() === READ_COMMITTED;
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => {
        const index = reader.int32();
        const leaderEpoch = version >= 4 ? reader.int32() : -1;
        return { index, leaderEpoch, timestamp: reader.int64() };
      }),
    }));
    const found = await Promise.all(
      topics.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(partitions.map((wanted) => find(broker, topic, { ...wanted, committedOnly }))),
      })),
    );
    return (response) => {
      if (version >= 2) response.int32(0); // throttle time
      response.array(found, ({ topic, partitions }) => {
        response.string(topic).array(partitions, ({ index, error, timestamp, offset }) => {
          response.int32(index).int16(error).int64(timestamp).int64(offset);
          if (version >= 4) response.int32(offset < 0 ? -1 : LEADER_EPOCH);
        });
      });
    };
  },
};

interface Wanted {
  readonly index: number;
  readonly leaderEpoch: number;
  readonly timestamp: number;
  /** Nothing from the first open transaction on. */
  readonly committedOnly: boolean;
}

const find = async (broker: Broker, topic: string, wanted: Wanted) => {
  const { index, timestamp } = wanted;
  try {
    const partition = broker.catalogue.requirePartition(topic, index);
    checkEpoch(wanted.leaderEpoch);
    const end = wanted.committedOnly ? lastStableOffset(partition) : partition.logEnd;
    return { index, error: errorCode.none, ...(await resolve(broker, partition, timestamp, end)) };
  } catch (error) {
    return { index, error: errorCodeOf(error, errorCode.storageError), ...NOT_FOUND };
  }
};

const resolve = async ({ log }: Broker, partition: Partition, timestamp: number, end: number) => {
  if (timestamp === LATEST) return { offset: end, timestamp: -1 };
  if (timestamp === EARLIEST) return { offset: partition.logStart, timestamp: -1 };
  const start = await log.firstBatchAtOrAfter(partition, timestamp);
  if (start === null) return NOT_FOUND;
  // Usually it is in the first batch: only where the one with the largest time is deleted, the search goes on.
  for (let offset = Math.max(start, partition.logStart); ;) {
    const batches = await log.read(partition, offset, PAGE_BYTES, end);
    if (batches.length === 0) return NOT_FOUND;
    for (const batch of batches) {
      const record = await firstRecordAtOrAfter(batch, timestamp, partition.logStart);
      if (record) return record;
    }
    offset = lastOffsetOf(batches.at(-1)!) + 1;
  }
};
