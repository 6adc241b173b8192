import type { Broker } from '../broker.ts';
import { KafkaError, errorCode, errorCodeOf } from '../errors.ts';
import { lastOffsetOf } from '../records/batch.ts';
import { lastStableOffset as lastStableOffsetOf, type Partition } from '../storage/partition.ts';
import type { Api } from './api.ts';
import {
  type FetchPartition,
  type FetchRequest,
  type FetchedPartition,
  NO_SESSION,
  readFetchRequest,
  writeFetchResponse,
  writeSessionNotSupported,
} from './fetch-codec.ts';
import { checkLeaderEpoch } from './leader-epoch.ts';

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
