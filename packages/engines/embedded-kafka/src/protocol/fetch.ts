import type { Api, ApiRequest, Broker } from './api.ts';
import { errorCode, type ErrorCode, errorCodeOf, KafkaError } from '../errors.ts';
import { lastOffsetOf } from '../records/batch.ts';
import type { AbortedTransaction } from '../storage/log-reader.ts';
import { checkLeaderEpoch, lastStableOffset as lastStableOffsetOf, type Partition } from '../storage/partition.ts';
import type { ResponseWriter } from './response-writer.ts';

const MAX_WAIT_MS = 60_000;

/** Returns record batches. Waits until there are `minBytes`, or until `maxWaitMs` have passed.
 *  Fetch sessions (KIP-227) are not supported: every request must list all its partitions. */
export const fetch: Api = {
  key: 1,
  name: 'Fetch',
  min: 4,
  max: 11,
  handle: async (apiRequest, broker) => {
    const { version, signal } = apiRequest;
    const request = readFetchRequest(apiRequest);
    const { sessionId, partitions, maxWaitMs, readCommitted } = request;
    if (sessionId !== NO_SESSION) return writeSessionNotSupported;
    const deadline = performance.now() + Math.min(maxWaitMs, MAX_WAIT_MS);
    for (;;) {
      // The wait starts before the read, so that no append between them is missed.
      const wait = waitForAppend(broker, partitions, deadline, signal);
      const { fetched, missingBytes } = await readAll(broker, request);
      if (missingBytes <= 0 || performance.now() >= deadline || signal.aborted) {
        wait.cancel();
        return writeFetchResponse(version, partitions, fetched);
      }
      // A marker of a few bytes makes a whole transaction visible.
      await wait.grownBy(readCommitted ? 1 : missingBytes);
    }
  },
};

/** Without `missingBytes`, the response can be sent now: it has at least `minBytes`, or an error. */
const readAll = async (broker: Broker, { partitions, minBytes, maxBytes, readCommitted }: FetchRequest) => {
  const fetched: FetchedPartition[] = [];
  let bytes = 0;
  for (const partition of partitions) {
    const limit = Math.min(partition.maxBytes, maxBytes - bytes);
    const result = await read(broker, partition, { limit, first: bytes === 0, readCommitted });
    fetched.push(result);
    bytes += sizeOf(result.batches);
  }
  const failed = fetched.some(({ error }) => error !== errorCode.none);
  return { fetched, missingBytes: failed || partitions.length === 0 ? 0 : minBytes - bytes };
};

interface ReadOptions {
  /** In bytes. */
  readonly limit: number;
  /** The first batch of a response may exceed the limit: otherwise a consumer could not read past a large batch. */
  readonly first: boolean;
  readonly readCommitted: boolean;
}

const read = async (
  { catalogue, logReader }: Broker,
  { topic, index, offset, leaderEpoch }: FetchPartition,
  { limit, first, readCommitted }: ReadOptions,
): Promise<FetchedPartition> => {
  try {
    const partition = catalogue.requirePartition(topic, index);
    checkLeaderEpoch(leaderEpoch);
    const { logStart: logStartOffset, logEnd: highWatermark } = partition;
    if (offset < logStartOffset || offset > highWatermark)
      throw new KafkaError(errorCode.offsetOutOfRange, `offset ${offset} is not in the log`);
    const lastStableOffset = lastStableOffsetOf(partition);
    const end = readCommitted ? lastStableOffset : highWatermark;
    const found = limit > 0 || first ? await logReader.read(partition, offset, Math.max(limit, 0), end) : [];
    const batches = first || sizeOf(found) <= limit ? found : [];
    const last = batches.at(-1);
    const abortedTransactions =
      readCommitted && last ? await logReader.abortedTransactions(partition, offset, lastOffsetOf(last) + 1) : [];
    const offsets = { logStartOffset, highWatermark, lastStableOffset };
    return { index, error: errorCode.none, ...offsets, batches, abortedTransactions };
  } catch (error) {
    const noOffsets = { logStartOffset: -1, highWatermark: -1, lastStableOffset: -1 };
    return {
      index,
      error: errorCodeOf(error, errorCode.storageError),
      ...noOffsets,
      batches: [],
      abortedTransactions: [],
    };
  }
};

interface AppendWait {
  /** Resolves once the partitions together have `bytes` more than when the wait started.
   *  Also resolves when one of them is deleted or replaced, at the deadline, and on abort. */
  readonly grownBy: (bytes: number) => Promise<void>;
  readonly cancel: () => void;
}

/** `deadline` is in ms since 1970. */
const waitForAppend = (
  { catalogue }: Broker,
  wanted: readonly FetchPartition[],
  deadline: number,
  signal: AbortSignal,
): AppendWait => {
  const partitions = wanted.flatMap(({ topic, index }) => catalogue.partition(topic, index) ?? []);
  const appendedBytes = () => partitions.reduce((sum, { position }) => sum + position, 0);
  const bytesBefore = appendedBytes();
  let neededBytes = Infinity;
  let end = () => {};
  const over = new Promise<void>((resolve) => (end = resolve));
  const cancel = () => {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
    for (const { waitingReaders } of partitions) waitingReaders.delete(onChange);
    end();
  };
  const cancelWhenGrown = () => {
    if (appendedBytes() - bytesBefore >= neededBytes) cancel();
  };
  const onChange = (partition: Partition) => {
    if (catalogue.partition(partition.topic.name, partition.index) === partition) cancelWhenGrown();
    else cancel();
  };
  const timer = setTimeout(cancel, Math.max(0, deadline - performance.now()));
  signal.addEventListener('abort', cancel);
  for (const { waitingReaders } of partitions) waitingReaders.add(onChange);
  return {
    grownBy: (bytes) => {
      neededBytes = bytes;
      cancelWhenGrown();
      return over;
    },
    cancel,
  };
};

const sizeOf = (batches: readonly Buffer[]): number => batches.reduce((sum, batch) => sum + batch.length, 0);

interface FetchPartition {
  readonly topic: string;
  readonly index: number;
  readonly leaderEpoch: number;
  readonly offset: number;
  readonly maxBytes: number;
}

interface FetchRequest {
  readonly maxWaitMs: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  /** Isolation level `read_committed`: return no records from `lastStableOffset` on, and list the aborted
   *  transactions. */
  readonly readCommitted: boolean;
  readonly sessionId: number;
  readonly partitions: readonly FetchPartition[];
}

interface FetchedPartition {
  readonly index: number;
  readonly error: ErrorCode;
  readonly logStartOffset: number;
  readonly highWatermark: number;
  readonly lastStableOffset: number;
  readonly batches: readonly Buffer[];
  readonly abortedTransactions: readonly AbortedTransaction[];
}

const NO_SESSION = 0;
const READ_COMMITTED = 1;
/** Limit of one response. Source: Apache Kafka, `fetch.max.bytes`. */
const MAX_RESPONSE_BYTES = 55 * 1024 * 1024;

const readFetchRequest = ({ reader, version }: ApiRequest): FetchRequest => {
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
const writeFetchResponse =
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
const writeSessionNotSupported = (response: ResponseWriter): void => {
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
