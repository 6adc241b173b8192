import type { Logger } from '@cpg/platform';
import { type Block, type BlockRef, ChainNodeError, type ChainSource, ReorganizedError } from '../chain-source.ts';
import type { ChainStore, OpenTransfer } from './chain-store.ts';
import { type Reading, scopeOf } from './reading.ts';
import { type BlockReading, knownIdsOf, readBlock, wasLookedFor } from './recheck.ts';
import { confirmationsOf, ENOUGH_READINGS, isAgreed, type Quorum, type SeenTransfer } from './seen-transfer.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

export interface SecondReadingOptions {
  readonly network: string;
  readonly source: Pick<ChainSource, 'at' | 'block' | 'balances'>;
  readonly store: Pick<ChainStore, 'ofBlock' | 'open'>;
  readonly watched: WatchedAddresses;
  readonly assets: ReadonlySet<string>;
  /** Confirmations of a block at which it is read again. */
  readonly recheckDepth: number;
  readonly quorum: Quorum;
  /** The asset whose transfers inside calls only traces show; null for none. */
  readonly coin: string | null;
  /** Addresses whose balances are compared where no node has traces, or one node alone showed a block. */
  readonly openAddresses: () => Promise<readonly string[]>;
  /** Counts an address that received coins which no transfer explains. */
  readonly onUnexplained: () => void;
  /** How long nodes may take until they know all of a block. */
  readonly settleMs: number;
  readonly onDifference: (reading: BlockReading, block: BlockRef) => void;
  readonly now: () => Date;
  /** Monotonic clock. */
  readonly nowMs?: (() => number) | undefined;
  readonly log: Logger;
}

/** Why deep transfers are not confirmed. */
export interface Unsettled {
  /** Readings differ, or the block could not be read again. */
  readonly readings: number;
  /** Too few nodes showed them. */
  readonly quorum: number;
}

export const NONE_UNSETTLED: Unsettled = { readings: 0, quorum: 0 };

const LONGEST_PAUSE_MS = 120_000;
const BLOCKS_AT_ONCE = 16;
const BLOCKS_AHEAD = 4;
/** How often a node may settle before coins that its traces do not explain are only counted. */
const SETTLE_TIMES_TO_EXPLAIN = 10;

/** Reads blocks again before their transfers are confirmed, from other nodes where there are any. */
export const secondReading = (options: SecondReadingOptions) => {
  const { source, store, recheckDepth, quorum, settleMs, nowMs = () => performance.now() } = options;
  const pauses = readingPauses(settleMs, nowMs);
  const rereads = blocksToReread(options);
  const readAgain = rereader(options, rereads);
  const tried = retried(options);
  const requireExplained = coinExplainer(options, nowMs);

  const placeAt = async (reading: Reading, height: number): Promise<BlockRef | null> =>
    reading.window.find((block) => block.height === height) ?? source.at(height);

  const follow = async (reading: Reading, height: number): Promise<void> => {
    const ref = await placeAt(reading, height);
    if (!ref) throw new ChainNodeError('mismatch', `the nodes have no block ${height} any more`);
    const { block, isSettled, isOfOneNode } = await readAgain(
      reading,
      { height, hash: ref.hash },
      ({ units }) => units,
    );
    if (!isSettled) pauses.begin(ref);
    if (!block.isTraced || isOfOneNode) await requireExplained(block);
    await reading.moveRecheck(height);
  };

  return {
    /** Reads the next blocks again that are deep enough. `tip` is the highest block that the nodes have. */
    follow: async (
      reading: Reading,
      { blocks, tip }: { readonly blocks: number; readonly tip: number },
      signal?: AbortSignal,
    ): Promise<void> => {
      for (let n = 0; n < blocks && !signal?.aborted; n += 1) {
        const height = reading.rechecked() + 1;
        if (height > reading.height() - recheckDepth + 1) return;
        rereads.fetchAhead(reading, height, tip - recheckDepth + 1);
        if (!(await tried(() => follow(reading, height), { height }))) return;
      }
    },
    /** Reads blocks again whose transfers are deep enough and not settled. Resolves to whether it read one, and to how
     *  many transfers earlier calls left unsettled. */
    settle: async (reading: Reading): Promise<{ readonly hasRead: boolean; readonly unsettled: Unsettled }> => {
      const byBlock = unsettledBlocks(await store.open(), reading, quorum);
      pauses.keep(byBlock);
      const late = [...byBlock].flatMap(([hash, transfers]) => (pauses.has(hash) ? transfers : []));
      const lacksNodes = ({ seen }: SeenTransfer) => seen.isShown && seen.readings >= ENOUGH_READINGS;
      const ofQuorum = late.filter(lacksNodes).length;
      const due = [...byBlock.values()].filter(([first]) => pauses.isOver(first!.block!, reading));
      let hasRead = false;
      for (const transfers of due.slice(0, BLOCKS_AT_ONCE)) {
        const ref = transfers[0]!.block!;
        const units = new Map(transfers.map(({ id, unitsAtAddress }) => [id, unitsAtAddress]));
        pauses.begin(ref);
        hasRead =
          (await tried(() => readAgain(reading, ref, (each) => units.get(each.id) ?? each.units), ref)) || hasRead;
      }
      return { hasRead, unsettled: { readings: late.length - ofQuorum, quorum: ofQuorum } };
    },
  };
};

/** When a further reading of a block with unsettled transfers is evidence, by the hash of the block. */
const readingPauses = (settleMs: number, nowMs: () => number) => {
  const attempts = new Map<string, { readonly count: number; readonly againAtMs: number }>();
  const startedMs = nowMs();
  return {
    has: (hash: string): boolean => attempts.has(hash),
    begin: ({ hash }: BlockRef): void => {
      const count = attempts.get(hash)?.count ?? 0;
      const pauseMs = Math.max(settleMs, Math.min(LONGEST_PAUSE_MS, settleMs * 2 ** count));
      attempts.set(hash, { count: count + 1, againAtMs: nowMs() + pauseMs });
    },
    /** A process cannot know when the one before it read a block the last time. */
    isOver: ({ hash, height }: BlockRef, reading: Reading): boolean =>
      (attempts.get(hash)?.againAtMs ?? (height > reading.rechecked() ? 0 : startedMs + settleMs)) <= nowMs(),
    /** Forgets the other blocks. */
    keep: (hashes: ReadonlyMap<string, unknown>): void => {
      for (const hash of attempts.keys()) if (!hashes.has(hash)) attempts.delete(hash);
    },
  };
};

/** Reads blocks again, the next ones while an earlier one is read, because catch-up mostly waits for nodes. */
const blocksToReread = ({ source, watched }: SecondReadingOptions) => {
  /** By hash. */
  const ahead = new Map<string, Promise<Block>>();
  const fetch = async (ref: BlockRef, not: readonly number[]): Promise<Block> =>
    source.block(ref, await watched.refresh(), { not });
  return {
    fetchAhead: ({ window }: Reading, from: number, to: number): void => {
      const next = window.filter(({ height }) => height >= from && height < from + BLOCKS_AHEAD && height <= to);
      for (const hash of ahead.keys()) if (!next.some((block) => block.hash === hash)) ahead.delete(hash);
      for (const { height, hash, nodes } of next) {
        if (ahead.has(hash)) continue;
        const block = fetch({ height, hash }, nodes);
        block.catch(() => {}); // reported when it is the turn of the block
        ahead.set(hash, block);
      }
    },
    /** From nodes other than `not`, where there are any. */
    take: (ref: BlockRef, not: readonly number[]): Promise<Block> => {
      const fetched = ahead.get(ref.hash);
      ahead.delete(ref.hash);
      return fetched ?? fetch(ref, not);
    },
  };
};

/** Reads a block again, and asks further nodes while that leaves transfers unsettled. `unitsOf` is the amount that
 *  decides how many nodes must show a transfer. */
const rereader = (options: SecondReadingOptions, rereads: ReturnType<typeof blocksToReread>) => {
  const { network, store, quorum, now, onDifference } = options;
  return async (
    reading: Reading,
    ref: BlockRef,
    unitsOf: (transfer: SeenTransfer) => bigint,
  ): Promise<{ readonly block: Block; readonly isSettled: boolean; readonly isOfOneNode: boolean }> => {
    const isUnsettled = (transfer: SeenTransfer): boolean =>
      transfer.block !== null && !isAgreed(transfer.seen, quorum({ asset: transfer.asset, units: unitsOf(transfer) }));
    const firstNodes = reading.window.find(({ hash }) => hash === ref.hash)?.nodes ?? [];
    const asked = new Set(firstNodes);
    let not: readonly number[] = firstNodes;
    for (;;) {
      const block = await rereads.take(ref, not);
      if (block.ref.hash !== ref.hash) throw new Error(`the source of ${network} answered with another block`);
      const known = await store.ofBlock(ref, knownIdsOf(block.transfers));
      const scope = await scopeOf(known, options);
      const read = readBlock(known, block, { scope, firstNodes, now: now() });
      if (read.changed.length > 0) await reading.change(read.changed);
      onDifference(read, ref);
      const isNew = block.nodes.some((node) => !asked.has(node));
      for (const node of block.nodes) asked.add(node);
      const unchecked = known.filter((each) => each.block?.hash === ref.hash && !wasLookedFor(each, block, scope));
      const isSettled = ![...read.changed, ...unchecked].some(isUnsettled);
      if (isSettled || !isNew) return { block, isSettled, isOfOneNode: asked.size === 1 };
      not = block.isTraced ? [...asked] : block.nodes;
    }
  };
};

/** Does some work. False if no node could be asked, or the block left the chain: the next call tries again. */
const retried = ({ network, log }: SecondReadingOptions) => {
  let lastFailure = '';
  return async (work: () => Promise<unknown>, ref: { readonly height: number }): Promise<boolean> => {
    try {
      await work();
      lastFailure = '';
      return true;
    } catch (error) {
      if (!(error instanceof ChainNodeError) && !(error instanceof ReorganizedError)) throw error;
      if (error.message !== lastFailure)
        log.warn({ network, height: ref.height, err: error }, 'a block could not be read again, retrying');
      lastFailure = error.message;
      return false;
    }
  };
};

/** The transfers that wait for a further reading of their blocks, by the hash of the block. */
const unsettledBlocks = (
  open: readonly OpenTransfer[],
  reading: Reading,
  quorum: Quorum,
): Map<string, OpenTransfer[]> => {
  const byBlock = new Map<string, OpenTransfer[]>();
  for (const transfer of open) {
    const { block, required, seen, asset, unitsAtAddress } = transfer;
    if (!block || isAgreed(seen, quorum({ asset, units: unitsAtAddress }))) continue;
    const isDue = required !== null && confirmationsOf(transfer, reading.height()) >= required;
    if (isDue || block.height <= reading.rechecked())
      byBlock.set(block.hash, [...(byBlock.get(block.hash) ?? []), transfer]);
  }
  return byBlock;
};

/** Traces have no proof: one node alone may leave out a call in both readings. While balances show that, the returned
 *  function throws ChainNodeError, so that the block is read again, for a while. */
const coinExplainer = (options: SecondReadingOptions, nowMs: () => number) => {
  const { network, onUnexplained, settleMs, log } = options;
  /** The block that is held up by coins that the traces of the only node do not explain. */
  let blocked: { readonly hash: string; readonly sinceMs: number } | null = null;
  return async (block: Block): Promise<void> => {
    const { hash, height } = block.ref;
    const unexplained = await unexplainedCoins(options, block);
    if (unexplained.length === 0) return;
    if (blocked?.hash !== hash) blocked = { hash, sinceMs: nowMs() };
    if (block.isTraced && nowMs() - blocked.sinceMs < SETTLE_TIMES_TO_EXPLAIN * settleMs)
      throw new ChainNodeError('mismatch', `node ${block.nodes[0]}: traces of block ${height} leave out coins`);
    for (const { address, units } of unexplained) {
      onUnexplained();
      log.error(
        { network, height, address, units: String(units) },
        'an address received coins that no transfer explains: add a node with traces, then rescan from this height',
      );
    }
  };
};

/** Coins that no transfer of a block explains, at the addresses of recent orders. Only the growth of balances shows
 *  what contracts paid where no node has traces. */
const unexplainedCoins = async (
  { source, store, coin, openAddresses }: SecondReadingOptions,
  { ref, parent }: Block,
): Promise<{ readonly address: string; readonly units: bigint }[]> => {
  const addresses = source.balances && coin !== null ? await openAddresses() : [];
  if (addresses.length === 0) return [];
  const [before, after] = await Promise.all([
    source.balances!({ height: ref.height - 1, hash: parent }, addresses),
    source.balances!(ref, addresses),
  ]);
  if (!before || !after) return [];
  const transfers = (await store.ofBlock(ref, [])).filter(({ block, asset }) => block !== null && asset === coin);
  return addresses.flatMap((address) => {
    const explained = transfers.filter((each) => each.address === address).reduce((sum, { units }) => sum + units, 0n);
    const units = (after.get(address) ?? 0n) - (before.get(address) ?? 0n) - explained;
    return units > 0n ? [{ address, units }] : [];
  });
};
