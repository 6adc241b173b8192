import { checkpointRecorder } from './checkpoints.ts';
import { type BlocksAhead, blocksAhead } from './blocks-ahead.ts';
import { ReorganizedError, WrongChainError } from './chain-source.ts';
import { nextStep } from './next-step.ts';
import { openChain, type OpenChainOptions } from './open-chain.ts';
import { type Reading, readingFrom } from './reading.ts';
import type { ReportTransfers } from './reporter.ts';
import { ChainHaltedError } from './start-place.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

export interface WatcherOptions extends OpenChainOptions {
  readonly watched: WatchedAddresses;
  readonly report: ReportTransfers;
}

/** How far a chain is read, for metrics. */
export interface ChainProgress {
  readonly tip: number;
  readonly height: number;
  /** Null until they were counted. */
  readonly watched: number | null;
  readonly reorganizations: number;
  /** When all that the nodes had was last read and reported, also by an earlier process. Before the first time, when
   *  this process began. */
  readonly readAt: Date;
  readonly state: 'starting' | 'reading' | 'at_tip' | 'behind' | 'halted';
}

export interface Watcher {
  /** Reads everything that the source has by now, oldest first. Throws ChainHaltedError if an operator has to act, and
   *  any other error for a retry: every step can be repeated. `signal` ends it between two blocks. */
  readonly readOn: (signal?: AbortSignal) => Promise<void>;
  readonly progress: () => ChainProgress;
}

const REPORT_AGAIN_AFTER_MS = 5_000;

/** Reads one chain into the store and reports its transfers. One process at a time may use it. */
export const chainWatcher = (options: WatcherOptions): Watcher => {
  const { kind, source, store, watched, report, now } = options;
  const open = openChain(options);
  const recordCheckpoint = checkpointRecorder(options);
  const none = { tip: 0, height: 0, watched: null, reorganizations: 0 };
  let progress: ChainProgress = { ...none, readAt: now(), state: 'starting' };
  const show = (change: Partial<ChainProgress>) => void (progress = { ...progress, ...change });
  let isResumed = false;
  let isVerified = false;
  let reportAgainAt = 0;

  /** Shows how far an earlier process read, so that an alarm about failing nodes does not begin anew. */
  const resume = async (): Promise<void> => {
    if (isResumed) return;
    const { state, readAt } = await store.load();
    show({ height: state?.window.at(-1)!.height ?? 0, readAt: readAt ?? progress.readAt });
    isResumed = true;
  };

  /** Makes due reports. While payments or orders is unavailable, reading goes on. */
  const reportUpTo = async (height: number, isAtTip: boolean): Promise<boolean> => {
    if (now().getTime() < reportAgainAt) return false;
    const areMade = await report({ height, isAtTip, now: now() });
    if (!areMade) reportAgainAt = now().getTime() + REPORT_AGAIN_AFTER_MS;
    return areMade;
  };

  const finishAtTip = async (reading: Reading, startedAt: Date): Promise<void> => {
    await reading.readMempool();
    // After a start, the next block may be far.
    if (progress.watched === null) show({ watched: (await watched.refresh()).size });
    const areReported = await reportUpTo(reading.height(), true);
    if (areReported) show({ readAt: startedAt });
    await store.mark({ tip: progress.tip, readAt: areReported ? startedAt : null, halted: null });
    await recordCheckpoint(reading);
  };

  const readToTip = async (signal: AbortSignal | undefined): Promise<void> => {
    const startedAt = now();
    const { window } = await open({ verify: !isVerified });
    isVerified = true;
    const tip = await source.tip();
    const blocks = blocksAhead(source, watched, tip.height);
    const reading = readingFrom([...window], { ...options, blocks, windowBlocks: kind.windowBlocks });
    show({ tip: tip.height, height: reading.height() });
    const answers = new Map<number, string | null>([[tip.height, tip.hash]]);
    while (!signal?.aborted) {
      const { state, ...moved } = await move(blocks, reading, answers);
      const height = reading.height();
      show({ ...moved, height, tip: Math.max(progress.tip, height), state });
      if (state === 'reading' && moved.watched === undefined) show({ reorganizations: progress.reorganizations + 1 });
      if (state === 'at_tip') return finishAtTip(reading, startedAt);
      if (state === 'behind') {
        isVerified = false;
        return store.mark({ tip: tip.height, readAt: null, halted: null });
      }
      await reportUpTo(height, false);
    }
  };

  const halt = async (error: ChainHaltedError): Promise<never> => {
    show({ state: 'halted' });
    await store.mark({ tip: null, readAt: null, halted: error.message });
    throw error;
  };

  /** Identifies the chain again before reading halts, because nodes can be replaced between two calls.
   *  Then the reason names a node of another chain. */
  const readVerified = async (signal: AbortSignal | undefined): Promise<void> => {
    const wasVerified = isVerified;
    try {
      await readToTip(signal);
    } catch (error) {
      if (!wasVerified || !(error instanceof ChainHaltedError)) throw error;
      isVerified = false;
      await readToTip(signal);
    }
  };

  return {
    readOn: async (signal) => {
      try {
        await resume();
        await readVerified(signal);
      } catch (error) {
        isVerified = false;
        if (error instanceof ChainHaltedError) return halt(error);
        if (error instanceof WrongChainError) return halt(new ChainHaltedError('other_chain', error.message));
        // The next call finds the block that took its place.
        if (!(error instanceof ReorganizedError)) throw error;
      }
    },
    progress: () => progress,
  };
};

interface Move {
  readonly state: 'reading' | 'at_tip' | 'behind';
  /** Watched addresses, after a block was read. */
  readonly watched?: number;
}

/** Moves the cursor by one block, or back. */
const move = async (blocks: BlocksAhead, reading: Reading, answers: Map<number, string | null>): Promise<Move> => {
  for (;;) {
    const step = nextStep(reading.window, answers);
    switch (step.kind) {
      case 'ask':
        answers.set(step.height, (await blocks.at(step.height))?.hash ?? null);
        break;
      case 'read': {
        const below = step.ref.height - 1;
        const { parent, watched } = await reading.read(step.ref);
        answers.set(below, parent);
        if (reading.height() === below) break;
        answers.delete(below);
        return { state: 'reading', watched };
      }
      case 'unwind':
        await reading.undo(step.to);
        answers.clear();
        return { state: 'reading' };
      case 'wait':
        return { state: step.isBehind ? 'behind' : 'at_tip' };
      case 'halt': {
        const { length } = reading.window;
        throw new ChainHaltedError(
          'deeper_than_window',
          `none of the last ${length} blocks is on the chain of the nodes`,
        );
      }
    }
  }
};
