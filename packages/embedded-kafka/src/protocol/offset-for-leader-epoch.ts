import { KafkaError, errorCode } from '../errors.ts';
import { LEADER_EPOCH } from '../storage/partition.ts';
import type { Api } from './api.ts';
import { checkLeaderEpoch } from './leader-epoch.ts';

/** Finds the end of a leader epoch. The only epoch ends at the end of the log. */
export const offsetForLeaderEpoch: Api = {
  key: 23,
  name: 'OffsetForLeaderEpoch',
  min: 0,
  max: 3,
  handle: ({ reader, version }, { catalogue }) => {
    if (version >= 3) reader.int32(); // ignored: replica id
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({
        index: reader.int32(),
        currentEpoch: version >= 2 ? reader.int32() : -1,
        epoch: reader.int32(),
      })),
    }));
    const endOf = (topic: string, index: number, currentEpoch: number, epoch: number) => {
      try {
        const { logEnd } = catalogue.requirePartition(topic, index);
        checkLeaderEpoch(currentEpoch);
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
        response.string(topic).array(partitions, ({ index, currentEpoch, epoch }) => {
          const found = endOf(topic, index, currentEpoch, epoch);
          response.int16(found.error).int32(index);
          if (version >= 1) response.int32(found.epoch);
          response.int64(found.end);
        });
      });
    };
  },
};
