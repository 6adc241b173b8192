import type { Logger } from '../log/logger.ts';
import type { EachBatchPayload } from 'kafkajs';

type Batch = Pick<EachBatchPayload, 'commitOffsetsIfNecessary' | 'uncommittedOffsets'>;

/** Commits the offsets that a consumer has resolved, for all partitions together. */
export interface OffsetCommitter {
  /** Commits within a second. A commit after every batch would cost more than most batches. */
  readonly schedule: (batch: Batch) => void;
  /** Commits now. Resolves also when the commit failed. */
  readonly flush: () => Promise<void>;
  /** Drops offsets that are not committed yet: other members may own their partitions now. */
  readonly reset: () => void;
  readonly stop: () => Promise<void>;
}

export interface OffsetCommitterOptions {
  readonly log: Logger;
  readonly delayMs?: number;
}

const COMMIT_DELAY_MS = 1_000;
// Another group member owns the partitions now and consumes the uncommitted messages again.
const PARTITION_LOST = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID']);

export const createOffsetCommitter = ({ log, delayMs = COMMIT_DELAY_MS }: OffsetCommitterOptions): OffsetCommitter => {
  let pending: Batch | null = null;
  let timer: NodeJS.Timeout | undefined;
  let lastCommit: Promise<void> = Promise.resolve();
  let stopped = false;

  const schedule = (batch: Batch) => {
    pending = batch;
    if (!stopped) timer ??= setTimeout(() => void flush(), delayMs);
  };
  const commit = async () => {
    const batch = pending;
    pending = null;
    if (!batch) return;
    try {
      await batch.commitOffsetsIfNecessary(batch.uncommittedOffsets());
    } catch (error) {
      log.debug({ err: error }, 'could not commit offsets');
      if (!PARTITION_LOST.has((error as { type?: string }).type ?? '')) schedule(pending ?? batch);
    }
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    lastCommit = lastCommit.then(commit);
    return lastCommit;
  };
  return {
    schedule,
    flush,
    reset: () => {
      pending = null;
    },
    stop: () => {
      stopped = true;
      return flush();
    },
  };
};
