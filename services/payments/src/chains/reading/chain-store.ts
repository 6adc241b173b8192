import type { Block, BlockRef, NodeView, Transfer } from '../chain-source.ts';
import { pooled, type Report, type ReportFailure, type SeenTransfer, unmined } from './seen-transfer.ts';

/** How far a network was read. Every block is read twice: at the tip, and again some confirmations later from another
 *  node, in case the first node left something out. */
export interface ChainState {
  readonly genesis: string;
  /** The blocks read last, oldest first; the last one is the cursor. Never empty. */
  readonly window: readonly ReadBlock[];
  /** The height up to which blocks were read a second time, at most that of the cursor. */
  readonly rechecked: number;
}

export interface StoredChain {
  /** Null before reading began. */
  readonly state: ChainState | null;
  /** As last marked: see `ReadMark`. */
  readonly readAt: Date | null;
  readonly halted: string | null;
  readonly stalled: string | null;
  /** An operator's request: read again from this height. */
  readonly rescanFrom: number | null;
}

/** The facts that readiness, metrics and expiry need besides the state. */
export interface ReadMark {
  /** The highest block that the nodes have; null if that is unknown. */
  readonly tip: number | null;
  /** When everything that the nodes had by then was read; null to keep the earlier mark. */
  readonly readAt: Date | null;
  /** Why reading stopped until an operator acts; null while it goes on. */
  readonly halted: string | null;
  /** Why the chain is not current although nodes answer; null while it is, undefined to keep the earlier mark. */
  readonly stalled?: string | null | undefined;
  /** The last view of each node; absent to keep the earlier mark. */
  readonly nodes?: readonly NodeView[] | undefined;
}

export interface OpenTransfer extends SeenTransfer {
  /** All units of its asset that its address received, without transfers that failed or that readings do not show. */
  readonly unitsAtAddress: bigint;
}

/** What changes about the report of a transfer to payments. */
export interface ReportChange {
  /** Of the transfer. */
  readonly id: string;
  /** Confirmations that confirm its payment; null before it was reported. */
  readonly required: number | null;
  readonly reported: Report | null;
  readonly pending: Report | null;
  readonly failure: ReportFailure | null;
}

/** The progress and the transfers that were read from one network. */
export interface ChainStore {
  readonly load: () => Promise<StoredChain>;
  /** Commits a change in one transaction. Blocks above its cursor count as not read again. False, and nothing changes,
   *  unless the cursor is `from`: another process went on, or an operator asked for a rescan. */
  readonly commit: (from: ReadBlock, change: ChainChange) => Promise<boolean>;
  /** Begins a window at the cursor of `change`: at the first start, with `from` null, or because an operator asked for
   *  a rescan. False like `commit`. */
  readonly begin: (genesis: string, from: ReadBlock | null, change: ChainChange) => Promise<boolean>;
  readonly mark: (mark: ReadMark) => Promise<void>;
  /** Notes why reading waits for another part of this system, although the nodes answer; null when it goes on. */
  readonly markWaiting: (reason: string | null) => Promise<void>;
  readonly withIds: (ids: readonly string[]) => Promise<SeenTransfer[]>;
  /** The transfers with these ids, and the transfers that the block contains or contained last. */
  readonly ofBlock: (ref: BlockRef, ids: readonly string[]) => Promise<SeenTransfer[]>;
  /** The transfers in blocks above this height. */
  readonly above: (height: number) => Promise<SeenTransfer[]>;
  /** The transfers that may still change or have something to report, oldest first. */
  readonly open: () => Promise<OpenTransfer[]>;
  readonly saveReports: (changes: readonly ReportChange[]) => Promise<void>;
}

/** Whether no block contains the transfer. */
export const isUnmined = ({ block }: SeenTransfer): boolean => block === null;

/** A block that was read. Its time is null for the block at which reading began. */
export interface ReadBlock extends BlockRef {
  readonly time: Date | null;
  /** Numbers of the nodes that showed its transfers at the first reading. */
  readonly nodes: readonly number[];
}

/** Where reading stands, and what changes with it, in one transaction. */
export interface ChainChange {
  readonly cursor: ReadBlock;
  readonly transfers: readonly SeenTransfer[];
  /** The height up to which blocks were read again; absent where that does not change. */
  readonly rechecked?: number;
}

/** Moves on to a block. `changed` are its transfers after it was read, `unminedKnown` the known transfers that no block
 *  contains. One of these is in conflict if the block spends an output that it spends: it can no longer be mined. */
export const forward = (
  { ref, time, nodes, spent }: Block,
  changed: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
): ChainChange => {
  const ids = new Set(changed.map(({ id }) => id));
  const conflicting = unminedKnown.flatMap((transfer) => {
    const { id, txHash, address, conflictAt, spends = [] } = transfer;
    if (ids.has(id) || conflictAt !== null) return [];
    const spenders = spends.map((output) => spent?.(output)).filter((spender) => spender !== undefined);
    const others = spenders.filter((spender) => spender !== txHash);
    if (others.length === 0) return [];
    const replacement = changed.find((each) => each.address === address && others.includes(each.txHash));
    return [{ ...transfer, conflictAt: ref.height, replacedBy: replacement?.txHash ?? null }];
  });
  return { cursor: { ...ref, time, nodes }, transfers: [...changed, ...conflicting] };
};

/** Forgets the blocks above `to`, the last of which was at height `readUpTo`. `gone` are the transfers in them,
 *  `unminedKnown` the known transfers that no block contains: conflicts with the forgotten blocks end. */
export const unwind = (
  to: ReadBlock,
  readUpTo: number,
  gone: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
  now: Date,
): ChainChange => {
  const isUndone = ({ conflictAt }: SeenTransfer) => conflictAt !== null && conflictAt > to.height;
  const freed = unminedKnown.filter(isUndone).map((transfer) => ({ ...transfer, conflictAt: null, replacedBy: null }));
  return { cursor: to, transfers: [...gone.map((transfer) => unmined(transfer, readUpTo, now)), ...freed] };
};

/** Takes note of the transfers in the mempool. A transfer that vanished from it and whose payment failed counts again
 *  only once a block contains it. */
export const lookAtPool = (
  cursor: ReadBlock,
  transfers: readonly Transfer[],
  known: readonly SeenTransfer[],
  unminedKnown: readonly SeenTransfer[],
  now: Date,
): ChainChange => {
  const byId = new Map(known.map((transfer) => [transfer.id, transfer]));
  const ids = new Set(transfers.map(({ id }) => id));
  const appeared = transfers
    .filter(({ id }) => {
      const earlier = byId.get(id);
      return !earlier || (earlier.block === null && earlier.vanishedAt !== null);
    })
    .map((transfer) => pooled(transfer, byId.get(transfer.id), now));
  const vanished = unminedKnown
    .filter(({ id, vanishedAt }) => vanishedAt === null && !ids.has(id))
    .map((transfer) => ({ ...transfer, vanishedAt: now }));
  return { cursor, transfers: [...appeared, ...vanished] };
};
