import type { ChainSource, ChainTip, NodeView } from '../chain-source.ts';
import type { ChainStore, ReadMark } from './chain-store.ts';
import { NONE_UNSETTLED, type Unsettled } from './second-reading.ts';

/** How far a chain is read, for metrics. */
export interface ChainProgress {
  /** The newest block on which the nodes agree, and the last block that was read. Both are 0 before the first
   *  reading. */
  readonly tip: number;
  readonly height: number;
  /** Number of watched addresses; null until they were counted. */
  readonly watched: number | null;
  readonly reorganizations: number;
  /** Blocks that are deep enough and were not read again: the first reading may have missed transfers. */
  readonly recheckLag: number;
  /** Transfers that are deep enough and not confirmed, by the reason. */
  readonly unsettled: Unsettled;
  /** Transfers whose report as a payment fails. */
  readonly failingReports: number;
  /** When all that the nodes had was last read, also by an earlier process. Before the first time, when this process
   *  began. */
  readonly readAt: Date;
  /** `behind`: the nodes do not have the newest block that was read. `halted`: they contradict what was read, or serve
   *  another chain, and an operator has to act. */
  readonly state: 'starting' | 'reading' | 'at_tip' | 'behind' | 'halted';
  /** Why the newest block of the nodes is not current; null while it is. */
  readonly stalled: string | null;
  /** The last view of each node; the watcher adds it. */
  readonly nodes: readonly NodeView[];
}

interface ChainProgressOptions {
  readonly store: Pick<ChainStore, 'load' | 'mark' | 'markWaiting'>;
  readonly source: Pick<ChainSource, 'nodes'>;
  /** Confirmations of a block at which it is read again. */
  readonly recheckDepth: number;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs: () => number;
}

export type ChainProgressMarks = ReturnType<typeof chainProgress>;

/** What the nodes show is stored at most this often, unless the reason for `stalled` changes. */
const MARK_AGAIN_AFTER_MS = 10_000;

/** Keeps the progress of a chain for metrics, and stores it for other processes. */
export const chainProgress = ({ store, source, recheckDepth, now, nowMs }: ChainProgressOptions) => {
  const none = {
    tip: 0,
    height: 0,
    watched: null,
    reorganizations: 0,
    recheckLag: 0,
    unsettled: NONE_UNSETTLED,
    failingReports: 0,
    stalled: null,
    nodes: [],
  };
  let progress: ChainProgress = { ...none, readAt: now(), state: 'starting' };
  let isResumed = false;
  let markAgainAtMs = 0;
  /** As the tables have them. */
  let marked: { readonly halted: string | null; readonly stalled: string | null } = { halted: null, stalled: null };
  /** Why reading waits although the nodes answer, as the tables have it; undefined before the first mark. */
  let waiting: string | null | undefined;

  const show = (change: Partial<ChainProgress>): void => void (progress = { ...progress, ...change });
  const showRecheck = ({ height, rechecked }: { readonly height: number; readonly rechecked: number }): void =>
    show({ recheckLag: Math.max(0, height - recheckDepth + 1 - rechecked) });
  const mark = async (change: Pick<ReadMark, 'tip' | 'readAt' | 'halted'>): Promise<void> => {
    const { stalled } = progress;
    await store.mark({ ...change, stalled, nodes: source.nodes?.() });
    marked = { halted: change.halted, stalled };
    markAgainAtMs = nowMs() + MARK_AGAIN_AFTER_MS;
  };
  return {
    current: (): ChainProgress => progress,
    show,
    showRecheck,
    mark,
    /** Stores the tip and what the nodes show: at once if `stalled` changed, else every 10 seconds at most. */
    markNodes: async ({ height, stalled = progress.stalled }: ChainTip): Promise<void> => {
      show({ stalled });
      if (stalled === marked.stalled && nowMs() < markAgainAtMs) return;
      // Null keeps the time of the last complete reading.
      await mark({ tip: height, readAt: null, halted: marked.halted });
    },
    /** Reading went on after a halt: the next mark removes the halt from the tables. */
    endHalt: (): void => void (marked = { ...marked, halted: null }),
    /** Shows how far an earlier process read, so that an alarm about failing nodes does not begin anew. */
    resume: async (): Promise<void> => {
      if (isResumed) return;
      const { state, readAt, halted, stalled } = await store.load();
      // A stored window is never empty.
      const height = state?.window.at(-1)!.height ?? 0;
      show({ height, readAt: readAt ?? progress.readAt, stalled });
      if (state) showRecheck({ height, rechecked: state.rechecked });
      if (halted !== null) show({ state: 'halted' });
      marked = { halted, stalled };
      isResumed = true;
    },
    /** Marks why reading waits for another part of this system; null while it does not. */
    showWaiting: async (reason: string | null): Promise<void> => {
      if (reason === waiting) return;
      await store.markWaiting(reason);
      waiting = reason;
    },
  };
};
