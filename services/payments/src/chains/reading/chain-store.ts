import type { ChainChange, ReadBlock } from './chain-change.ts';
import type { BlockRef, NodeView } from '../chain-source.ts';
import type { Report, ReportFailure, SeenTransfer } from './seen-transfer.ts';

/** How far a network was read. */
export interface ChainState {
  readonly genesis: string;
  /** The blocks read last, oldest first; the last one is the cursor. Never empty. */
  readonly window: readonly ReadBlock[];
  /** The height up to which blocks were read again, at most that of the cursor. */
  readonly rechecked: number;
}

export interface StoredChain {
  /** Null before reading began. */
  readonly state: ChainState | null;
  /** The last `readAt` that was marked. Null before. */
  readonly readAt: Date | null;
  /** Why reading stood still, and why the chain was not current, when that was last marked. */
  readonly halted: string | null;
  readonly stalled: string | null;
  /** An operator's request: read again from this height. */
  readonly rescanFrom: number | null;
}

/** What readiness, metrics and expiry need to know, besides the state. */
export interface ReadMark {
  /** The highest block that the nodes have; null if that is unknown. */
  readonly tip: number | null;
  /** When everything that the nodes had by then was read; null to keep the earlier mark. */
  readonly readAt: Date | null;
  readonly halted: string | null;
  /** Why the chain is not current although nodes answer; null while it is, undefined to keep the earlier mark. */
  readonly stalled?: string | null | undefined;
  /** What each node showed last; absent to keep the earlier mark. */
  readonly nodes?: readonly NodeView[] | undefined;
}

export interface OpenTransfer extends SeenTransfer {
  /** All units of its asset that its address received, without transfers that failed or that readings do not show. */
  readonly unitsAtAddress: bigint;
}

export interface ReportChange {
  readonly id: string;
  readonly required: number | null;
  readonly reported: Report | null;
  readonly pending: Report | null;
  readonly failure: ReportFailure | null;
}

/** What was read from one network. */
export interface ChainStore {
  readonly load: () => Promise<StoredChain>;
  /** Commits a change in one transaction. Blocks above its cursor count as not read again. False, and nothing changes,
   *  unless the cursor is `from`: another process went on, or an operator asked for a rescan. */
  readonly commit: (from: ReadBlock, change: ChainChange) => Promise<boolean>;
  /** Begins a window at the cursor of `change`: at the first start, with `from` null, or because an operator asked for
   *  a rescan. False like `commit`. */
  readonly begin: (genesis: string, from: ReadBlock | null, change: ChainChange) => Promise<boolean>;
  readonly mark: (mark: ReadMark) => Promise<void>;
  /** Notes why reading waits although the nodes answer; null when it goes on. */
  readonly markWaiting: (reason: string | null) => Promise<void>;
  readonly withIds: (ids: readonly string[]) => Promise<SeenTransfer[]>;
  /** Those with ids, and those that a block contains or contained last. */
  readonly ofBlock: (ref: BlockRef, ids: readonly string[]) => Promise<SeenTransfer[]>;
  readonly above: (height: number) => Promise<SeenTransfer[]>;
  /** Those that may change or have something to report, oldest first. */
  readonly open: () => Promise<OpenTransfer[]>;
  readonly saveReports: (changes: readonly ReportChange[]) => Promise<void>;
}

/** A transfer that no block contains, and whose payment may still change. */
export const isUnmined = ({ block }: SeenTransfer): boolean => block === null;
