import type { Api } from '../broker.ts';
import { LEADER_EPOCH } from '../storage/catalogue.ts';
import type { CommittedOffset } from '../storage/offset-store.ts';
import { checkEpoch } from './fetch.ts';
import { type ErrorCode, KafkaError, errorCode, errorCodeOf } from '../errors.ts';

const LARGEST_METADATA = 4096;

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
    if (version <= 4) reader.int64(); // retention: offsets are kept as long as their topic and group
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
      for (const asked of partitions) {
        const error = offsetFault(asked, catalogue.partition(topic, asked.partition) !== undefined);
        if (error === errorCode.none) offsets.push({ topic, ...asked });
        else errors.set(asked, error);
      }
    }
    const error = await groups.commitOffsets(groupId, { generation, memberId, instanceId }, offsets).then(
      (): ErrorCode => errorCode.none,
      (refused: unknown) => errorCodeOf(refused, errorCode.coordinatorNotAvailable),
    );
    return (response) => {
      if (version >= 3) response.int32(0); // throttle time
      response.array(topics, ({ topic, partitions }) => {
        response.string(topic).array(partitions, (asked) => {
          response.int32(asked.partition).int16(errors.get(asked) ?? error);
        });
      });
    };
  },
};

/** Why a single offset cannot be committed, or `none`. */
const offsetFault = ({ offset, metadata }: { offset: number; metadata: Buffer }, exists: boolean): ErrorCode => {
  if (!exists) return errorCode.unknownTopicOrPartition;
  if (metadata.length > LARGEST_METADATA) return errorCode.offsetMetadataTooLarge;
  return Math.abs(offset) < Number.MAX_SAFE_INTEGER ? errorCode.none : errorCode.offsetOutOfRange;
};

const NO_OFFSET = { offset: -1, leaderEpoch: -1, metadata: Buffer.alloc(0) };

export const offsetFetch: Api = {
  key: 9,
  name: 'OffsetFetch',
  min: 1,
  max: 5,
  handle: async ({ reader, version }, { groups }) => {
    const groupId = reader.string();
    const asked = reader.nullableArray(() => ({ topic: reader.string(), partitions: reader.array(reader.int32) }));
    const { error, committed } = await groups.committedOffsets(groupId).then(
      (found) => ({ error: errorCode.none as ErrorCode, committed: found }),
      (away: unknown) => ({ error: errorCodeOf(away, errorCode.coordinatorNotAvailable), committed: [] }),
    );
    const of = (topic: string, partition: number) =>
      committed.find((offset) => offset.topic === topic && offset.partition === partition) ?? {
        ...NO_OFFSET,
        partition,
      };
    const topics = (asked ?? all(committed)).map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) => of(topic, partition)),
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

const all = (committed: readonly CommittedOffset[]) => {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of committed) topics.set(topic, [...(topics.get(topic) ?? []), partition]);
  return [...topics].map(([topic, partitions]) => ({ topic, partitions }));
};

/** Where an epoch ended: there is one, and it ends where the log does. */
export const offsetForLeaderEpoch: Api = {
  key: 23,
  name: 'OffsetForLeaderEpoch',
  min: 0,
  max: 3,
  handle: ({ reader, version }, { catalogue }) => {
    if (version >= 3) reader.int32(); // replica id
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({
        index: reader.int32(),
        believed: version >= 2 ? reader.int32() : -1,
        epoch: reader.int32(),
      })),
    }));
    const endOf = (topic: string, index: number, believed: number, epoch: number) => {
      try {
        const { logEnd } = catalogue.requirePartition(topic, index);
        checkEpoch(believed);
        return epoch === LEADER_EPOCH
          ? { error: errorCode.none, epoch, end: logEnd }
          : { error: errorCode.none, epoch: -1, end: -1 };
      } catch (error) {
        if (error instanceof KafkaError) return { error: error.code, epoch: -1, end: -1 };
        throw error;
      }
    };
    return (response) => {
      if (version >= 2) response.int32(0); // throttle time
      response.array(topics, ({ topic, partitions }) => {
        response.string(topic).array(partitions, ({ index, believed, epoch }) => {
          const found = endOf(topic, index, believed, epoch);
          response.int16(found.error).int32(index);
          if (version >= 1) response.int32(found.epoch);
          response.int64(found.end);
        });
      });
    };
  },
};
