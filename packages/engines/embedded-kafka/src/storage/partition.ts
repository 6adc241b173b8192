import { errorCode, KafkaError } from '../errors.ts';
import type { ProducerState } from './producers.ts';
import { Queue, type Tail } from './tail-cache.ts';
import type { TopicConfig } from './topic-config.ts';

export interface Topic {
  readonly id: number;
  readonly name: string;
  /** Only the settings that differ from the defaults of the broker. */
  config: Partial<TopicConfig>;
  readonly partitions: Partition[];
}

/** The committed state of one log. */
export interface Partition {
  readonly topic: Topic;
  readonly index: number;
  logStart: number;
  /** The cleanup has deleted the rows of all offsets before this one. */
  deletedTo: number;
  /** The next offset. It equals the high watermark, because only committed batches count. */
  logEnd: number;
  /** Bytes appended so far, up to the end of the last batch. */
  position: number;
  /** The largest record timestamp so far, in ms since 1970. */
  maxTimestamp: number;
  /** By producer id. */
  readonly producers: Map<number, ProducerState>;
  /** The first offset of each open transaction, by producer id and in the order of the offsets. */
  openTransactions: ReadonlyMap<number, number>;
  /** The offset of the last abort marker, or -1. */
  lastAbortOffset: number;
  readonly tail: Tail;
  /** Called when the log grows, and when the partition is deleted or replaced. */
  readonly waitingReaders: Set<(partition: Partition) => void>;
}

/** The leader epoch never changes: this broker is the only leader, and it never truncates a log. */
export const LEADER_EPOCH = 0;

/** The last stable offset: the start of the first open transaction, or the end of the log. */
export const lastStableOffset = ({ openTransactions, logStart, logEnd }: Partition): number => {
  const [first = logEnd] = openTransactions.values();
  return Math.max(first, logStart);
};

export const notifyReaders = (partition: Partition): void =>
  partition.waitingReaders.forEach((notify) => notify(partition));

export const emptyPartition = (topic: Topic, index: number): Partition => ({
  topic,
  index,
  logStart: 0,
  deletedTo: 0,
  logEnd: 0,
  position: 0,
  maxTimestamp: -1,
  producers: new Map(),
  openTransactions: new Map(),
  lastAbortOffset: -1,
  tail: new Queue(),
  waitingReaders: new Set(),
});

/** Throws KafkaError if the client knows a later leader epoch than the only one. -1 stands for an unknown epoch. */
export const checkLeaderEpoch = (epoch: number): void => {
  if (epoch > LEADER_EPOCH) throw new KafkaError(errorCode.unknownLeaderEpoch, `leader epoch ${epoch} is unknown`);
};
