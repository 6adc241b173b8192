import type { Api } from '../broker.ts';
import { type ErrorCode, errorCode, errorCodeOf } from '../errors.ts';

const UP_TO_THE_END = -1;

/** Moves the start of logs forward; what lies before it is gone for every reader. */
export const deleteRecords: Api = {
  key: 21,
  name: 'DeleteRecords',
  min: 0,
  max: 1,
  handle: async ({ reader }, { catalogue, log }) => {
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({ index: reader.int32(), before: reader.int64() })),
    }));
    reader.int32(); // timeout
    const trim = async (topic: string, index: number, before: number) => {
      try {
        const partition = catalogue.requirePartition(topic, index);
        const logStart = await log.moveLogStart(partition, before === UP_TO_THE_END ? partition.logEnd : before);
        return { index, error: errorCode.none as ErrorCode, logStart };
      } catch (error) {
        return { index, error: errorCodeOf(error, errorCode.storageError), logStart: -1 };
      }
    };
    const trimmed = await Promise.all(
      topics.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(partitions.map(({ index, before }) => trim(topic, index, before))),
      })),
    );
    return (response) => {
      response.int32(0); // throttle time
      response.array(trimmed, ({ topic, partitions }) => {
        response.string(topic).array(partitions, ({ index, error, logStart }) => {
          response.int32(index).int64(logStart).int16(error);
        });
      });
    };
  },
};
