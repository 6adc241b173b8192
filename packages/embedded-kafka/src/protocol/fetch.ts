import type { Api, Broker, ApiRequest } from '../broker.ts';
import { LEADER_EPOCH, lastStableOffset } from '../storage/catalogue.ts';
import type { AbortedTransaction } from '../storage/log.ts';
import { lastOffsetOf } from '../records/batch.ts';
import { type ErrorCode, KafkaError, errorCode, errorCodeOf } from '../errors.ts';
import type { ResponseWriter } from './response-writer.ts';

interface Wanted {
  readonly topic: string;
  readonly index: number;
  readonly leaderEpoch: number;
  readonly offset: number;
  readonly maxBytes: number;
}

interface Fetched {
  readonly index: number;
  readonly error: ErrorCode;
  readonly logStart: number;
  readonly logEnd: number;
  readonly lastStable: number;
  readonly batches: readonly Buffer[];
  readonly aborted: readonly AbortedTransaction[];
}

interface Round {
  readonly partitions: readonly Fetched[];
  /** Worth an answer before the wait is over: enough bytes, or an error. */
  readonly enough: boolean;
}

const NO_SESSION = 0;
const READ_COMMITTED = 1;
const LONGEST_WAIT_MS = 60_000;
/** Of one answer, as the real broker's fetch.max.bytes. */
const LARGEST_ANSWER = 55 * 1024 * 1024;

/** Waits until `minBytes` are there or `maxWaitMs` are over. Sessions (KIP-227) are not kept: each request names its partitions. */
export const fetch: Api = {
  key: 1,
  name: 'Fetch',
  min: 4,
  max: 11,
  handle: async (call, broker) => {
    const { version } = call;
    const request = decode(call);
    if (request.sessionId !== NO_SESSION) return answer(version, errorCode.fetchSessionIdNotFound, [], []);
    const { wanted, maxWaitMs } = request;
    const until = Date.now() + Math.min(maxWaitMs, LONGEST_WAIT_MS);
    for (;;) {
      // Listening starts before reading, so that nothing slips in between.
      const news = listen(broker, wanted, until, call.signal);
      const { partitions, enough } = await readAll(broker, request);
      if (enough || Date.now() >= until || call.signal.aborted) {
        news.cancel();
        return answer(version, errorCode.none, wanted, partitions);
      }
      await news.heard;
    }
  },
};

const decode = ({ reader, version }: ApiRequest) => {
  reader.int32(); // replica id
  const maxWaitMs = reader.int32();
  const minBytes = reader.int32();
  const maxBytes = Math.min(reader.int32(), LARGEST_ANSWER);
  const committedOnly = version >= 4 && reader.int8() === READ_COMMITTED;
  const sessionId = version >= 7 ? reader.int32() : NO_SESSION;
  if (version >= 7) reader.int32(); // session epoch
  const topics = reader.array(() => {
    const topic = reader.string();
    return reader.array((): Wanted => {
      const index = reader.int32();
      const leaderEpoch = version >= 9 ? reader.int32() : -1;
      const offset = reader.int64();
      if (version >= 5) reader.int64(); // log start of a follower
      return { topic, index, leaderEpoch, offset, maxBytes: reader.int32() };
    });
  });
  return { maxWaitMs, minBytes, maxBytes, committedOnly, sessionId, wanted: topics.flat() };
};

type Request = ReturnType<typeof decode>;

const readAll = async (broker: Broker, { wanted, minBytes, maxBytes, committedOnly }: Request): Promise<Round> => {
  const partitions: Fetched[] = [];
  let bytes = 0;
  let failed = false;
  for (const partition of wanted) {
    const limit = Math.min(partition.maxBytes, maxBytes - bytes);
    const fetched = await read(broker, partition, { limit, first: bytes === 0, committedOnly });
    partitions.push(fetched);
    bytes += sizeOf(fetched.batches);
    failed ||= fetched.error !== errorCode.none;
  }
  return { partitions, enough: failed || bytes >= minBytes || wanted.length === 0 };
};

interface Limits {
  /** In bytes. The first batch of the answer comes even when it is larger, or a consumer would be stuck. */
  readonly limit: number;
  readonly first: boolean;
  /** Nothing of open transactions, and told which ones were aborted. */
  readonly committedOnly: boolean;
}

/** Whole batches. */
const read = async ({ catalogue, log }: Broker, wanted: Wanted, limits: Limits): Promise<Fetched> => {
  const { topic, index, offset } = wanted;
  const { limit, first, committedOnly } = limits;
  try {
    const partition = catalogue.requirePartition(topic, index);
    checkEpoch(wanted.leaderEpoch);
    const { logStart, logEnd } = partition;
    if (offset < logStart || offset > logEnd)
      throw new KafkaError(errorCode.offsetOutOfRange, `${offset} is not stored`);
    const lastStable = lastStableOffset(partition);
    const ends = { logStart, logEnd, lastStable };
    const found =
      limit > 0 || first
        ? await log.read(partition, offset, Math.max(limit, 0), committedOnly ? lastStable : logEnd)
        : [];
    const batches = first || sizeOf(found) <= limit ? found : [];
    const last = batches.at(-1);
    const aborted =
      committedOnly && last ? await log.abortedTransactions(partition, offset, lastOffsetOf(last) + 1) : [];
    return { index, error: errorCode.none, ...ends, batches, aborted };
  } catch (error) {
    return { index, error: errorCodeOf(error, errorCode.storageError), ...NOWHERE, batches: [], aborted: [] };
  }
};

const NOWHERE = { logStart: -1, logEnd: -1, lastStable: -1 };

/** Throws KafkaError when the client believes in another leader epoch than the only one there is. */
export const checkEpoch = (epoch: number): void => {
  if (epoch > LEADER_EPOCH) throw new KafkaError(errorCode.unknownLeaderEpoch, `epoch ${epoch} is not known`);
};

/** Resolves when one of the partitions has news, at `until` (ms since 1970), or when nobody waits any more. */
const listen = ({ catalogue }: Broker, wanted: readonly Wanted[], until: number, signal: AbortSignal) => {
  const partitions = wanted.flatMap(({ topic, index }) => catalogue.partition(topic, index) ?? []);
  let cancel = () => {};
  const heard = new Promise<void>((done) => {
    const timer = setTimeout(() => cancel(), Math.max(0, until - Date.now()));
    cancel = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', cancel);
      for (const { waitingReaders: waiting } of partitions) waiting.delete(cancel);
      done();
    };
    signal.addEventListener('abort', cancel);
    for (const { waitingReaders: waiting } of partitions) waiting.add(cancel);
  });
  return { heard, cancel };
};

const answer =
  (version: number, error: ErrorCode, wanted: readonly Wanted[], partitions: readonly Fetched[]) =>
  (response: ResponseWriter): void => {
    response.int32(0); // throttle time
    if (version >= 7) response.int16(error).int32(NO_SESSION);
    response.array(byTopic(wanted, partitions), ([topic, fetched]) => {
      response.string(topic).array(fetched, (partition) => {
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

const byTopic = (wanted: readonly Wanted[], partitions: readonly Fetched[]): [string, Fetched[]][] => {
  const topics = new Map<string, Fetched[]>();
  partitions.forEach((fetched, n) => {
    const { topic } = wanted[n]!;
    topics.set(topic, [...(topics.get(topic) ?? []), fetched]);
  });
  return [...topics];
};

const sizeOf = (batches: readonly Buffer[]): number => batches.reduce((sum, batch) => sum + batch.length, 0);
