import { type ErrorCode, errorCode } from '../errors.ts';
import type { AbortedTransaction } from '../storage/log-reader.ts';
import type { ApiRequest } from './api.ts';
import type { ResponseWriter } from './response-writer.ts';

export interface FetchPartition {
  readonly topic: string;
  readonly index: number;
  readonly leaderEpoch: number;
  readonly offset: number;
  readonly maxBytes: number;
}

export interface FetchRequest {
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** Isolation level `read_committed`: return no records from `lastStableOffset` on, and list the aborted
   *  transactions. */
  readonly readCommitted: boolean;
  readonly sessionId: number;
  readonly partitions: readonly FetchPartition[];
}

export interface FetchedPartition {
  readonly index: number;
  readonly error: ErrorCode;
  readonly logStartOffset: number;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly batches: readonly Buffer[];
  readonly abortedTransactions: readonly AbortedTransaction[];
}

export const NO_SESSION = 0;
const READ_COMMITTED = 1;
/** Limit of one response. Source: Apache Kafka, `fetch.max.bytes`. */
const MAX_RESPONSE_BYTES = 55 * 1024 * 1024;

export const readFetchRequest = ({ reader, version }: ApiRequest): FetchRequest => {
  reader.int32(); // ignored: replica id
  const maxWaitMs = reader.int32();
  const minBytes = reader.int32();
  const maxBytes = Math.min(reader.int32(), MAX_RESPONSE_BYTES);
  const committedOnly = reader.int8() === READ_COMMITTED;
  const sessionId = version >= 7 ? reader.int32() : NO_SESSION;
  if (version >= 7) reader.int32(); // ignored: session epoch
  const topics = reader.array(() => {
    const topic = reader.string();
    return reader.array((): FetchPartition => {
      const index = reader.int32();
      const leaderEpoch = version >= 9 ? reader.int32() : -1;
      const offset = reader.int64();
      if (version >= 5) reader.int64(); // ignored: log start offset of a follower
      return { topic, index, leaderEpoch, offset, maxBytes: reader.int32() };
    });
  });
  return { maxWaitMs, minBytes, maxBytes, readCommitted: committedOnly, sessionId, partitions: topics.flat() };
};

/** `fetched` contains one result for each partition in `requested`, in the same order. */
export const writeFetchResponse =
  (version: number, requested: readonly FetchPartition[], fetched: readonly FetchedPartition[]) =>
  (response: ResponseWriter): void => {
    response.int32(0); // throttle time
    if (version >= 7) response.int16(errorCode.none).int32(NO_SESSION);
    response.array(groupByTopic(requested, fetched), ([topic, partitions]) => {
      response.string(topic).array(partitions, (partition) => {
        response.int32(partition.index).int16(partition.error);
        response.int64(partition.highWatermark).int64(partition.lastStableOffset);
        if (version >= 5) response.int64(partition.logStartOffset);
        response.array(partition.abortedTransactions, ({ producerId, firstOffset }) => {
          response.int64(producerId).int64(firstOffset);
        });
        if (version >= 11) response.int32(-1); // preferred replica
        response.joinedBytes(partition.batches);
      });
    });
  };

/** Error response to a request that names a fetch session. This broker does not support fetch sessions. */
export const writeSessionNotSupported = (response: ResponseWriter): void => {
  response.int32(0); // throttle time
  response.int16(errorCode.fetchSessionIdNotFound).int32(NO_SESSION);
  response.array([], () => {});
};

const groupByTopic = (
  requested: readonly FetchPartition[],
  fetched: readonly FetchedPartition[],
): [string, FetchedPartition[]][] => {
  const topics = new Map<string, FetchedPartition[]>();
  fetched.forEach((partition, position) => {
    const { topic } = requested[position]!;
    const partitions = topics.get(topic);
    if (partitions) partitions.push(partition);
    else topics.set(topic, [partition]);
  });
  return [...topics];
};
