import { isTemporary } from '@cpg/contracts';
import { type BlockRef, ReorganizedError, WrongChainError } from '../chain-source.ts';
import { blocksAhead } from './blocks-ahead.ts';
import { type ChainProgress, chainProgress, type ChainProgressMarks } from './chain-progress.ts';
import { checkpointRecorder } from './chain-stream.ts';
import { move } from './next-step.ts';
import { ChainHaltedError, openChain, type OpenChainOptions } from './open-chain.ts';
import { type Reading, readingFrom } from './reading.ts';
import type { BlockReading } from './recheck.ts';
import { secondReading, type SecondReadingOptions } from './second-reading.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

export interface WatcherOptions
  extends
    OpenChainOptions,
    Pick<SecondReadingOptions, 'assets' | 'recheckDepth' | 'quorum' | 'coin' | 'openAddresses' | 'nowMs'> {
  readonly watched: WatchedAddresses;
  readonly report: ReportTransfers;
  readonly count: ReadingCounts;
}

/** Counts what readings of blocks found. Nodes are named by number. */
export interface ReadingCounts {
  /** A node left out a transfer. */
  readonly missed: (node: number) => void;
  /** A node showed a transfer that its block does not contain, or another amount of it. */
  readonly misread: (node: number) => void;
  /** An address received coins that no transfer explains. */
  readonly unexplained: () => void;
}

export interface Watcher {
  /** Reads everything that the source has by now, oldest first. Throws ChainHaltedError if an operator has to act, and
   *  any other error for a retry: every step can be repeated. `signal` ends it between two blocks. */
  readonly readOn: (signal?: AbortSignal) => Promise<void>;
  readonly progress: () => ChainProgress;
}

/** One answer proves nothing: behind a load balancer, the next one may come from another node. */
const ANSWERS_BEFORE_HALT = 3;

/** Blocks to read again after each block, so that an outage of the second reading is made up for. */
const RECHECKS_PER_BLOCK = 2;
const RECHECKS_AT_TIP = 64;

/** Reads one chain into the store and reports its transfers. One process at a time may use it. */
export const chainWatcher = (options: WatcherOptions): Watcher => {
  const { kind, source, nowMs = () => performance.now() } = options;
  const progress = chainProgress({ ...options, nowMs });
  const reader = chainReader(options, progress);
  /** Answers in a row that would halt reading, and when the first came. */
  let doubt: { readonly answers: number; readonly sinceMs: number } | null = null;

  /** Halts once the nodes have said the same for long enough that all of them know the same. */
  const halt = async (error: ChainHaltedError): Promise<never> => {
    doubt = { answers: (doubt?.answers ?? 0) + 1, sinceMs: doubt?.sinceMs ?? nowMs() };
    const isProven = doubt.answers >= ANSWERS_BEFORE_HALT && nowMs() - doubt.sinceMs >= kind.settleMs;
    if (!isProven && progress.current().state !== 'halted') throw new Error(error.message, { cause: error });
    progress.show({ state: 'halted' });
    await progress.mark({ tip: null, readAt: null, halted: error.message });
    throw error;
  };

  return {
    readOn: async (signal) => {
      try {
        await progress.resume();
        await reader.readVerified(signal);
        doubt = null;
        await progress.showWaiting(null);
      } catch (error) {
        reader.verifyAgain();
        if (isTemporary(error)) await progress.showWaiting(reasonOf(error)).catch(() => {});
        if (error instanceof ChainHaltedError) return halt(error);
        if (error instanceof WrongChainError) return halt(new ChainHaltedError('other_chain', error.message));
        // The next call finds the block that took its place.
        if (!(error instanceof ReorganizedError)) throw error;
      }
    },
    progress: () => ({ ...progress.current(), nodes: source.nodes?.() ?? [] }),
  };
};

/** Reads from where the tables are up to the tip of the nodes. */
const chainReader = (options: WatcherOptions, progress: ChainProgressMarks) => {
  const { kind, source, watched, now } = options;
  const open = openChain(options);
  const onDifference = differenceReporter(options);
  const followUp = blockFollowUp({ ...options, onDifference }, progress);
  let isVerified = false;

  const readToTip = async (signal: AbortSignal | undefined): Promise<void> => {
    const startedAt = now();
    const opened = await open({ verify: !isVerified });
    isVerified = true;
    const tip = await source.tip();
    await progress.markNodes(tip);
    const blocks = blocksAhead(source, watched, tip.height, kind.blocksAhead);
    const reading = readingFrom(opened, { ...options, blocks, onDifference, windowBlocks: kind.windowBlocks });
    progress.show({ tip: tip.height, height: reading.height() });
    const answers = new Map<number, string | null>([[tip.height, tip.hash]]);
    const isCurrent = () => tip.isNewest && progress.current().stalled === null;
    const isAtTip = () => isSameBlock(reading.window.at(-1)!, tip);
    while (!signal?.aborted) {
      // Of this round: a chain with several blocks a second adds them faster than one after another is asked for.
      if (isAtTip()) {
        progress.show({ state: 'at_tip' });
        return followUp.atTip(reading, { startedAt, isCurrent: isCurrent() }, signal);
      }
      const { state, ...moved } = await move(blocks, reading, answers);
      const height = reading.height();
      progress.endHalt();
      progress.show({ ...moved, height, tip: Math.max(progress.current().tip, height), state });
      if (state === 'reading' && moved.watched === undefined)
        progress.show({ reorganizations: progress.current().reorganizations + 1 });
      if (state === 'at_tip') return followUp.atTip(reading, { startedAt, isCurrent: isCurrent() }, signal);
      if (state === 'behind') {
        isVerified = false;
        return progress.mark({ tip: tip.height, readAt: null, halted: null });
      }
      await followUp.afterBlock(reading, signal);
    }
  };

  return {
    /** The next reading identifies the chain again. */
    verifyAgain: (): void => void (isVerified = false),
    /** Identifies the chain again before reading halts, because nodes can be replaced between two calls.
     *  Then the reason names a node of another chain. */
    readVerified: async (signal: AbortSignal | undefined): Promise<void> => {
      const wasVerified = isVerified;
      try {
        await readToTip(signal);
      } catch (error) {
        if (!wasVerified || !(error instanceof ChainHaltedError)) throw error;
        isVerified = false;
        await readToTip(signal);
      }
    },
  };
};

/** Reads blocks again and reports transfers, after each block and at the tip. */
const blockFollowUp = (
  options: WatcherOptions & Pick<SecondReadingOptions, 'onDifference'>,
  progress: ChainProgressMarks,
) => {
  const { kind, watched, report, now } = options;
  const recordCheckpoint = checkpointRecorder(options);
  const again = secondReading({ ...options, onUnexplained: options.count.unexplained, settleMs: kind.settleMs });

  /** Makes due reports. Reading goes on while one of them fails. */
  const reportUpTo = async (height: number, isAtTip: boolean): Promise<void> =>
    progress.show({ failingReports: await report({ height, isAtTip, now: now(), graceBlocks: kind.graceBlocks }) });

  const recheck = async (reading: Reading, blocks: number, signal: AbortSignal | undefined): Promise<void> => {
    await again.follow(reading, { blocks, tip: progress.current().tip }, signal);
    progress.showRecheck({ height: reading.height(), rechecked: reading.rechecked() });
  };

  return {
    afterBlock: async (reading: Reading, signal: AbortSignal | undefined): Promise<void> => {
      await recheck(reading, RECHECKS_PER_BLOCK, signal);
      await reportUpTo(reading.height(), false);
    },
    /** At a frozen tip, nobody knows what was paid since: nothing vanishes, and no order may expire. */
    atTip: async (
      reading: Reading,
      { startedAt, isCurrent }: { readonly startedAt: Date; readonly isCurrent: boolean },
      signal: AbortSignal | undefined,
    ): Promise<void> => {
      await reading.readMempool();
      // After a start, the next block may be far.
      if (progress.current().watched === null) progress.show({ watched: (await watched.refresh()).size });
      await recheck(reading, RECHECKS_AT_TIP, signal);
      await reportUpTo(reading.height(), isCurrent);
      // A merchant may require fewer confirmations than the depth of the second reading.
      const { hasRead, unsettled } = await again.settle(reading);
      progress.show({ unsettled });
      if (hasRead) await reportUpTo(reading.height(), isCurrent);
      if (isCurrent) progress.show({ readAt: startedAt });
      await progress.mark({ tip: progress.current().tip, readAt: isCurrent ? startedAt : null, halted: null });
      await recordCheckpoint(reading);
    },
  };
};

const isSameBlock = (one: BlockRef, other: BlockRef): boolean => one.height === other.height && one.hash === other.hash;

/** Logs where readings of a block differ, and counts what nodes did wrong once readings agree. */
const differenceReporter =
  ({ network, count, log }: Pick<WatcherOptions, 'network' | 'count' | 'log'>) =>
  ({ differing, findings }: BlockReading, { height }: BlockRef): void => {
    for (const { id, address, asset, units, seen } of differing) {
      const { shownBy, missedBy } = seen;
      const transfer = { transfer: id, address, asset, units: String(units) };
      log.warn({ network, height, ...transfer, shownBy, missedBy }, 'readings of a block differ on a transfer');
    }
    for (const { kind, transfer, nodes } of findings) {
      for (const node of nodes) count[kind](node);
      log.error({ network, height, transfer: transfer.id, units: String(transfer.units), nodes }, MESSAGES[kind]);
    }
  };

const MESSAGES = {
  missed: 'nodes left out a transfer, which a further reading of its block found',
  misread: 'nodes showed a transfer, or an amount, that its block does not contain',
} as const;

const reasonOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message} (${cause.message})` : message;

/** Reports transfers as payments, as far as the chain was read. A report that fails is made again later, and holds up
 *  no other one. Resolves to the number of transfers whose report fails. */
export type ReportTransfers = (readSoFar: ReadSoFar) => Promise<number>;

export interface ReadSoFar {
  readonly height: number;
  /** Whether the source has no further block, and its mempool was read. */
  readonly isAtTip: boolean;
  readonly now: Date;
  /** Of the kind of the chain. */
  readonly graceBlocks: number;
}
