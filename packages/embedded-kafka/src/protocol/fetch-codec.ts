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
  /** Whether to leave out records of open transactions, and to list the aborted transactions. */
  readonly committedOnly: boolean;
  readonly sessionId: number;
  readonly partitions: readonly FetchPartition[];
}

export interface FetchedPartition {
  readonly index: number;
  readonly error: ErrorCode;
  readonly logStart: number;
  readonly logEnd: number;
  readonly lastStable: number;
  readonly batches: readonly Buffer[];
  readonly aborted: readonly AbortedTransaction[];
}

export const NO_SESSION = 0;
const READ_COMMITTED = 1;
/** Limit of one response. Source: Apache Kafka, `fetch.max.bytes`. */
const MAX_RESPONSE_BYTES = 55 * 1024 * 1024;

export const readFetchRequest = ({ reader, version }: ApiRequest): FetchRequest => {
  reader.int32(); // replica id
  const maxWaitMs = reader.int32();
  const minBytes = reader.int32();
  const maxBytes = Math.min(reader.int32(), MAX_RESPONSE_BYTES);
  const committedOnly = version >= 4 && reader.int8() === READ_COMMITTED;
  const sessionId = version >= 7 ? reader.int32() : NO_SESSION;
  if (version >= 7) reader.int32(); // session epoch
  const topics = reader.array(() => {
    const topic = reader.string();
    return reader.array((): FetchPartition => {
      const index = reader.int32();
      const leaderEpoch = version >= 9 ? reader.int32() : -1;
      const offset = reader.int64();
      if (version >= 5) reader.int64(); // log start of a follower
      return { topic, index, leaderEpoch, offset, maxBytes: reader.int32() };
    });
  });
  return { maxWaitMs, minBytes, maxBytes, committedOnly, sessionId, partitions: topics.flat() };
};

/** `fetched` has one result for each of `requested`, in the same order. */
export const writeFetchResponse =
  (version: number, requested: readonly FetchPartition[], fetched: readonly FetchedPartition[]) =>
  (response: ResponseWriter): void => {
    response.int32(0); // throttle time
    if (version >= 7) response.int16(errorCode.none).int32(NO_SESSION);
    response.array(byTopic(requested, fetched), ([topic, partitions]) => {
      response.string(topic).array(partitions, (partition) => {
        response.int32(partition.index).int16(partition.error);
        response.int64(partition.logEnd).int64(partition.lastStable);
        if (version >= 5) response.int64(partition.logStart);
        response.array(partition.aborted, ({ producerId, firstOffset }) => {
          response.int64(producerId).int64(firstOffset);
        });
        if (version >= 11) response.int32(-1); // preferred replica
        response.joinedBytes(partition.batches);
      });
    });
  };

/** The response to a fetch session, which this broker does not support. */
export const writeUnknownSession = (response: ResponseWriter): void => {
  response.int32(0); // throttle time
  response.int16(errorCode.fetchSessionIdNotFound).int32(NO_SESSION);
  response.array([], () => {});
};

const byTopic = (
  requested: readonly FetchPartition[],
  fetched: readonly FetchedPartition[],
): [string, FetchedPartition[]][] => {
  const topics = new Map<string, FetchedPartition[]>();
  fetched.forEach((partition, n) => {
    const { topic } = requested[n]!;
    topics.set(topic, [...(topics.get(topic) ?? []), partition]);
  });
  return [...topics];
};
