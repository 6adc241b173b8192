import type { Broker } from '../broker.ts';
import { KafkaError, errorCode, errorCodeOf } from '../errors.ts';
import { lastOffsetOf } from '../records/batch.ts';
import { lastStableOffset as lastStableOffsetOf } from '../storage/partition.ts';
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
    const { sessionId, partitions, maxWaitMs } = request;
    if (sessionId !== NO_SESSION) return writeSessionNotSupported;
    const deadline = Date.now() + Math.min(maxWaitMs, MAX_WAIT_MS);
    for (;;) {
      // The wait starts before the read, so that no append between them is missed.
      const wait = waitForAppend(broker, partitions, deadline, signal);
      const { fetched, enough } = await readAll(broker, request);
      if (enough || Date.now() >= deadline || signal.aborted) {
        wait.cancel();
        return writeFetchResponse(version, partitions, fetched);
      }
      await wait.done;
    }
  },
};

/** `enough` is true if the response can be sent now: it has at least `minBytes`, or an error. */
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
  return { fetched, enough: failed || bytes >= minBytes || partitions.length === 0 };
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

/** `done` resolves at the next append to one of the partitions, at `deadline` (ms since 1970), or when `signal` is
 *  aborted. */
const waitForAppend = (
  { catalogue }: Broker,
  wanted: readonly FetchPartition[],
  deadline: number,
  signal: AbortSignal,
): { done: Promise<void>; cancel: () => void } => {
  const partitions = wanted.flatMap(({ topic, index }) => catalogue.partition(topic, index) ?? []);
  let cancel = () => {};
  const done = new Promise<void>((resolve) => {
    const timer = setTimeout(() => cancel(), Math.max(0, deadline - Date.now()));
    cancel = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      for (const { waitingReaders } of partitions) waitingReaders.delete(cancel);
      resolve();
    };
    signal.addEventListener('abort', cancel);
    for (const { waitingReaders } of partitions) waitingReaders.add(cancel);
  });
  return { done, cancel };
};

const sizeOf = (batches: readonly Buffer[]): number => batches.reduce((sum, batch) => sum + batch.length, 0);
