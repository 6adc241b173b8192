import type { Logger } from '@cpg/runtime';
import type { EachBatchPayload } from 'kafkajs';

type Batch = Pick<EachBatchPayload, 'commitOffsetsIfNecessary' | 'uncommittedOffsets'>;

/** Commits the offsets that a consumer has resolved. */
export interface OffsetCommitter {
  /** Within `EVERY_MS`, for all partitions together: a commit after every batch costs more than most batches. */
  readonly schedule: (batch: Batch) => void;
  /** Resolves when all that was resolved is committed, or could not be. */
  readonly flush: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const EVERY_MS = 200;
// The partitions are in other hands, and whoever has them reads again what was not committed.
const MOVED_ON = new Set(['UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'FENCED_INSTANCE_ID']);

export const createOffsetCommitter = (log: Logger): OffsetCommitter => {
  let due: Batch | null = null;
  let timer: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();
  let stopped = false;

  const soon = (batch: Batch) => {
    due = batch;
    if (!stopped) timer ??= setTimeout(() => void now(), EVERY_MS);
  };
  const commit = async () => {
    const batch = due;
    due = null;
    try {
      await batch?.commitOffsetsIfNecessary(batch.uncommittedOffsets());
    } catch (error) {
      log.debug({ err: error }, 'could not commit offsets');
      if (!MOVED_ON.has((error as { type?: string }).type ?? '')) soon(due ?? batch!);
    }
  };
  const now = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    last = last.then(commit);
    return last;
  };
  return {
    schedule: soon,
    flush: now,
    stop: () => {
      stopped = true;
      return now();
    },
  };
};
