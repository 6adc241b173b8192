import { type ErrorCode, errorCode, errorCodeOf } from '../errors.ts';
import type { Api } from './api.ts';

/** Stands for the end of the log. */
const HIGH_WATERMARK = -1;

/** Moves the start of logs forward. Records before the start cannot be read any more. */
export const deleteRecords: Api = {
  key: 21,
  name: 'DeleteRecords',
  min: 0,
  max: 1,
  handle: async ({ reader }, { catalogue, logWriter, requestCleanup }) => {
    const topics = reader.array(() => ({
      topic: reader.string(),
      partitions: reader.array(() => ({ index: reader.int32(), before: reader.int64() })),
    }));
    reader.int32(); // ignored: timeout
    const moveStart = async (topic: string, index: number, before: number) => {
      try {
        const partition = catalogue.requirePartition(topic, index);
        const logStart = await logWriter.moveLogStart(partition, before === HIGH_WATERMARK ? partition.logEnd : before);
        return { index, error: errorCode.none as ErrorCode, logStart };
      } catch (error) {
        return { index, error: errorCodeOf(error, errorCode.storageError), logStart: -1 };
      }
    };
    const results = await Promise.all(
      topics.map(async ({ topic, partitions }) => ({
        topic,
        partitions: await Promise.all(partitions.map(({ index, before }) => moveStart(topic, index, before))),
      })),
    );
    requestCleanup();
    return (response) => {
      response.int32(0); // throttle time
      response.array(results, ({ topic, partitions }) => {
        response.string(topic).array(partitions, ({ index, error, logStart }) => {
          response.int32(index).int64(logStart).int16(error);
        });
      });
    };
  },
};
