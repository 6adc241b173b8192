import { isTemporary } from '@cpg/contracts';
import { type BlockRef, type ChainTip, type NodeView, ReorganizedError, WrongChainError } from '../chain-source.ts';
import { blocksAhead } from './blocks-ahead.ts';
import type { ReadMark } from './chain-store.ts';
import { checkpointRecorder } from './chain-stream.ts';
import { move } from './next-step.ts';
import { ChainHaltedError, openChain, type OpenChainOptions } from './open-chain.ts';
import { type Reading, readingFrom } from './reading.ts';
import type { BlockReading } from './recheck.ts';
import { NONE_UNSETTLED, secondReading, type SecondReadingOptions, type Unsettled } from './second-reading.ts';
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

/** How far a chain is read, for metrics. */
export interface ChainProgress {
  readonly tip: number;
  readonly height: number;
  /** Null until they were counted. */
  readonly watched: number | null;
  readonly reorganizations: number;
  /** Blocks that are deep enough and were not read again. */
  readonly recheckLag: number;
  readonly unsettled: Unsettled;
  /** Transfers whose report as a payment fails. */
  readonly failingReports: number;
  /** When all that the nodes had was last read, also by an earlier process. Before the first time, when this process
   *  began. */
  readonly readAt: Date;
  readonly state: 'starting' | 'reading' | 'at_tip' | 'behind' | 'halted';
  /** Why the chain is not current although nodes answer; null while it is. */
  readonly stalled: string | null;
  /** What each node showed last. */
  readonly nodes: readonly NodeView[];
}

export interface Watcher {
  /** Reads everything that the source has by now, oldest first. Throws ChainHaltedError if an operator has to act, and
   *  any other error for a retry: every step can be repeated. `signal` ends it between two blocks. */
  readonly readOn: (signal?: AbortSignal) => Promise<void>;
  readonly progress: () => ChainProgress;
}

/** How old the marks about nodes get while blocks are read, or while that fails. */
const MARK_AGAIN_AFTER_MS = 10_000;
/** One answer proves nothing: behind a load balancer, the next one may come from another node. */
const ANSWERS_BEFORE_HALT = 3;

/** Blocks to read again after each block, so that an outage of the second reading is made up for. */
const RECHECKS_PER_BLOCK = 2;
const RECHECKS_AT_TIP = 64;

/** Reads one chain into the store and reports its transfers. One process at a time may use it. */
export const chainWatcher = (options: WatcherOptions): Watcher => {
  const { kind, source, store, watched, report, now, nowMs = () => performance.now() } = options;
  const open = openChain(options);
  const recordCheckpoint = checkpointRecorder(options);
  const onDifference = differenceReporter(options);
  const again = secondReading({
    ...options,
    onDifference,
    onUnexplained: options.count.unexplained,
    settleMs: kind.settleMs,
  });
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
  const show = (change: Partial<ChainProgress>) => void (progress = { ...progress, ...change });
  const lagOf = (height: number, rechecked: number) => Math.max(0, height - options.recheckDepth + 1 - rechecked);
  let isResumed = false;
  let isVerified = false;
  let markAgainAtMs = 0;
  /** As the tables have them. */
  let marked: { halted: string | null; stalled: string | null } = { halted: null, stalled: null };
  /** Answers in a row that would halt reading, and when the first came. */
  let doubt: { readonly answers: number; readonly sinceMs: number } | null = null;

  /** Shows how far an earlier process read, so that an alarm about failing nodes does not begin anew. */
  const resume = async (): Promise<void> => {
    if (isResumed) return;
    const { state, readAt, halted, stalled } = await store.load();
    const height = state?.window.at(-1)!.height ?? 0;
    const recheckLag = state ? lagOf(height, state.rechecked) : 0;
    show({ height, recheckLag, readAt: readAt ?? progress.readAt, stalled });
    if (halted !== null) show({ state: 'halted' });
    marked = { halted, stalled };
    isResumed = true;
  };

  /** Makes due reports. Reading goes on while one of them fails. */
  const reportUpTo = async (height: number, isAtTip: boolean): Promise<void> =>
    show({ failingReports: await report({ height, isAtTip, now: now(), graceBlocks: kind.graceBlocks }) });

  /** Marks at once that the chain is current or not, and every now and then what the nodes show. */
  const markNodes = async ({ height, stalled = progress.stalled }: ChainTip): Promise<void> => {
    show({ stalled });
    if (stalled === marked.stalled && nowMs() < markAgainAtMs) return;
    await mark({ tip: height, readAt: null, halted: marked.halted });
  };
  const mark = async (change: Pick<ReadMark, 'tip' | 'readAt' | 'halted'>): Promise<void> => {
    const { stalled } = progress;
    await store.mark({ ...change, stalled, nodes: source.nodes?.() });
    marked = { halted: change.halted, stalled };
    markAgainAtMs = nowMs() + MARK_AGAIN_AFTER_MS;
  };

  const recheck = async (reading: Reading, blocks: number, signal: AbortSignal | undefined): Promise<void> => {
    await again.follow(reading, { blocks, tip: progress.tip }, signal);
    show({ recheckLag: lagOf(reading.height(), reading.rechecked()) });
  };

  /** At a frozen tip, nobody knows what was paid since: nothing vanishes, and no order may expire. */
  const finishAtTip = async (
    reading: Reading,
    { startedAt, isCurrent }: { readonly startedAt: Date; readonly isCurrent: boolean },
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    await reading.readMempool();
    // After a start, the next block may be far.
    if (progress.watched === null) show({ watched: (await watched.refresh()).size });
    await recheck(reading, RECHECKS_AT_TIP, signal);
    await reportUpTo(reading.height(), isCurrent);
    // A merchant may require fewer confirmations than the depth of the second reading.
    const { hasRead, unsettled } = await again.settle(reading);
    show({ unsettled });
    if (hasRead) await reportUpTo(reading.height(), isCurrent);
    if (isCurrent) show({ readAt: startedAt });
    await mark({ tip: progress.tip, readAt: isCurrent ? startedAt : null, halted: null });
    await recordCheckpoint(reading);
  };

  const readToTip = async (signal: AbortSignal | undefined): Promise<void> => {
    const startedAt = now();
    const opened = await open({ verify: !isVerified });
    isVerified = true;
    const tip = await source.tip();
    await markNodes(tip);
    const blocks = blocksAhead(source, watched, tip.height, kind.blocksAhead);
    const reading = readingFrom(opened, { ...options, blocks, onDifference, windowBlocks: kind.windowBlocks });
    show({ tip: tip.height, height: reading.height() });
    const answers = new Map<number, string | null>([[tip.height, tip.hash]]);
    const isCurrent = () => tip.isNewest && progress.stalled === null;
    const isAtTip = () => isSameBlock(reading.window.at(-1)!, tip);
    while (!signal?.aborted) {
      // Of this round: a chain with several blocks a second adds them faster than one after another is asked for.
      if (isAtTip()) {
        show({ state: 'at_tip' });
        return finishAtTip(reading, { startedAt, isCurrent: isCurrent() }, signal);
      }
      const { state, ...moved } = await move(blocks, reading, answers);
      const height = reading.height();
      marked = { ...marked, halted: null };
      show({ ...moved, height, tip: Math.max(progress.tip, height), state });
      if (state === 'reading' && moved.watched === undefined) show({ reorganizations: progress.reorganizations + 1 });
      if (state === 'at_tip') return finishAtTip(reading, { startedAt, isCurrent: isCurrent() }, signal);
      if (state === 'behind') {
        isVerified = false;
        return mark({ tip: tip.height, readAt: null, halted: null });
      }
      await recheck(reading, RECHECKS_PER_BLOCK, signal);
      await reportUpTo(height, false);
    }
  };

  let waiting: string | null | undefined;
  const showWaiting = async (reason: string | null): Promise<void> => {
    if (reason === waiting) return;
    await store.markWaiting(reason);
    waiting = reason;
  };

  /** Halts once the nodes have said the same for long enough that all of them know the same. */
  const halt = async (error: ChainHaltedError): Promise<never> => {
    doubt = { answers: (doubt?.answers ?? 0) + 1, sinceMs: doubt?.sinceMs ?? nowMs() };
    const isProven = doubt.answers >= ANSWERS_BEFORE_HALT && nowMs() - doubt.sinceMs >= kind.settleMs;
    if (!isProven && progress.state !== 'halted') throw new Error(error.message, { cause: error });
    show({ state: 'halted' });
    await mark({ tip: null, readAt: null, halted: error.message });
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
        doubt = null;
        await showWaiting(null);
      } catch (error) {
        isVerified = false;
        if (isTemporary(error)) await showWaiting(reasonOf(error)).catch(() => {});
        if (error instanceof ChainHaltedError) return halt(error);
        if (error instanceof WrongChainError) return halt(new ChainHaltedError('other_chain', error.message));
        // The next call finds the block that took its place.
        if (!(error instanceof ReorganizedError)) throw error;
      }
    },
    progress: () => ({ ...progress, nodes: source.nodes?.() ?? [] }),
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

/** Reports transfers as payments, as far as the chain was read. A report that fails is made again later, and holds up no
 *  other one. Resolves to the number of transfers whose report fails. */
export type ReportTransfers = (readSoFar: ReadSoFar) => Promise<number>;

export interface ReadSoFar {
  readonly height: number;
  /** Whether the source has no further block, and its mempool was read. */
  readonly isAtTip: boolean;
  readonly now: Date;
  /** Of the kind of the chain. */
  readonly graceBlocks: number;
}
