import { type ErrorCode, errorCode, settle } from '../errors.ts';
import type { CommittedOffset } from '../storage/offset-store.ts';
import type { Api } from './api.ts';

const MAX_METADATA_BYTES = 4096;

/** Commits offsets of a consumer group. */
export const offsetCommit: Api = {
  key: 8,
  name: 'OffsetCommit',
  min: 2,
  max: 7,
  handle: async ({ reader, version }, { catalogue, groups }) => {
    const groupId = reader.string();
    const generation = reader.int32();
    const memberId = reader.string();
    const instanceId = version >= 7 ? reader.nullableString() : null;
    if (version <= 4) reader.int64(); // retention time: committed offsets do not expire
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({
        partition: reader.int32(),
        offset: reader.int64(),
        leaderEpoch: version >= 6 ? reader.int32() : -1,
        metadata: Buffer.from(reader.nullableString() ?? ''),
      })),
    }));
    const offsets: CommittedOffset[] = [];
    const errors = new Map<object, ErrorCode>();
    for (const { topic, partitions } of topics) {
      for (const commit of partitions) {
        const error = checkOffset(commit, catalogue.partition(topic, commit.partition) !== undefined);
        if (error === errorCode.none) offsets.push({ topic, ...commit });
        else errors.set(commit, error);
      }
    }
    const committing = groups.commitOffsets(groupId, { generation, memberId, instanceId }, offsets);
    const { error } = await settle(committing, errorCode.coordinatorNotAvailable, undefined);
    return (response) => {
      if (version >= 3) response.int32(0); // throttle time
      response.array(topics, ({ topic, partitions }) => {
        response.string(topic).array(partitions, (commit) => {
          response.int32(commit.partition).int16(errors.get(commit) ?? error);
        });
      });
    };
  },
};

/** The error of one offset, or `none`. */
const checkOffset = ({ offset, metadata }: { offset: number; metadata: Buffer }, exists: boolean): ErrorCode => {
  if (!exists) return errorCode.unknownTopicOrPartition;
  if (metadata.length > MAX_METADATA_BYTES) return errorCode.offsetMetadataTooLarge;
  return Math.abs(offset) < Number.MAX_SAFE_INTEGER ? errorCode.none : errorCode.offsetOutOfRange;
};

const NO_OFFSET = { offset: -1, leaderEpoch: -1, metadata: Buffer.alloc(0) };

/** Returns the committed offsets of a consumer group. Null instead of topics asks for all of them. */
export const offsetFetch: Api = {
  key: 9,
  name: 'OffsetFetch',
  min: 1,
  max: 5,
  handle: async ({ reader, version }, { groups }) => {
    const groupId = reader.string();
    const requested = reader.nullableArray(() => ({ topic: reader.string(), partitions: reader.array(reader.int32) }));
    const reading = groups.committedOffsets(groupId);
    const { error, result: committed } = await settle(reading, errorCode.coordinatorNotAvailable, []);
    const offsetOf = (topic: string, partition: number) =>
      committed.find((offset) => offset.topic === topic && offset.partition === partition) ?? {
        ...NO_OFFSET,
        partition,
      };
    const topics = (requested ?? partitionsByTopic(committed)).map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) => offsetOf(topic, partition)),
    }));
    return (response) => {
      if (version >= 3) response.int32(0); // throttle time
      response.array(topics, ({ topic, partitions }) => {
        response.string(topic).array(partitions, ({ partition, offset, leaderEpoch, metadata }) => {
          response.int32(partition).int64(offset);
          if (version >= 5) response.int32(leaderEpoch);
          response.string(metadata.toString()).int16(error);
        });
      });
      if (version >= 2) response.int16(error);
    };
  },
};

const partitionsByTopic = (committed: readonly CommittedOffset[]) => {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of committed) topics.set(topic, [...(topics.get(topic) ?? []), partition]);
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
};
