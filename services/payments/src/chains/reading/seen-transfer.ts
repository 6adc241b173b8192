import type { Block, BlockRef, Transfer } from '../chain-source.ts';
import { BLOCK_LEAD_MS } from '../nodes/agreement.ts';

/** The last report about a transfer. `confirmed` without a block: applied, then reorganized away.
 *  `ignored`: less than a minor unit. `refused`: payments can never record it. */
export type ReportStatus = 'received' | 'confirmed' | 'failed' | 'ignored' | 'refused';

export interface Report {
  readonly status: ReportStatus;
  /** Hash of the block that contains the transfer; null for none. */
  readonly block: string | null;
}

/** The results of the readings of a block for one transfer. */
export interface Seen {
  /** Whether the last reading showed it. */
  readonly isShown: boolean;
  /** How many readings in a row said the same as the last one. A proven reading counts twice, unless it is the
   *  first. */
  readonly readings: number;
  /** Numbers of the nodes that showed it, and of those that did not. */
  readonly shownBy: readonly number[];
  readonly missedBy: readonly number[];
}

/** The failed attempts to make a report. */
export interface ReportFailure {
  readonly attempts: number;
  readonly firstAt: Date;
  readonly lastAt: Date;
  /** When the next attempt is due; null once the report is refused. */
  readonly retryAt: Date | null;
  readonly reason: string;
}

/** A transfer to a watched address, where the chain has it now, and what was reported about it. */
export interface SeenTransfer extends Transfer {
  readonly seenAt: Date;
  /** The block on the chain that contains it; null while no block does. */
  readonly block: BlockRef | null;
  /** Hash of the block that contained it last; null while one does, or none did. */
  readonly lostHash: string | null;
  /** The results of the readings of that block. */
  readonly seen: Seen;
  /** The height that had been read when a reorganization removed it; null while it is mined or was never mined. */
  readonly lostAt: number | null;
  /** Since when neither a block nor the mempool has it. */
  readonly vanishedAt: Date | null;
  /** A block whose transaction spends an output that this transfer spends too. */
  readonly conflictAt: number | null;
  /** The transaction in that block, if it pays the same address: the payer replaced the transfer. */
  readonly replacedBy: string | null;
  /** Confirmations that it needs; null until it is reported. */
  readonly required: number | null;
  readonly reported: Report | null;
  /** The report that is being made. After a crash it may have been made or not. */
  readonly pending: Report | null;
  /** Null while no report fails. */
  readonly failure: ReportFailure | null;
}

export const ENOUGH_READINGS = 2;

const UNSEEN: Seen = { isShown: true, readings: 0, shownBy: [], missedBy: [] };

/** Whether enough readings in a row, and `quorum` nodes, showed a transfer. */
export const isAgreed = ({ isShown, readings, shownBy }: Seen, quorum: number): boolean =>
  isShown && readings >= ENOUGH_READINGS && shownBy.length >= quorum;

/** Whether readings agreed that no block contains a transfer as an earlier reading showed it. */
export const isTakenOut = ({ block, seen }: Pick<SeenTransfer, 'block' | 'seen'>): boolean =>
  block === null && !seen.isShown && seen.readings >= ENOUGH_READINGS;

const unreported = { required: null, reported: null, pending: null, failure: null } as const;
const present = { lostHash: null, lostAt: null, vanishedAt: null, conflictAt: null, replacedBy: null } as const;

const earlier = (a: Date, b: Date): Date => (a <= b ? a : b);

/** The time at which a block can have been seen first: now, or more if its own time proves that this clock is
 *  behind. */
const seenFirst = ({ asset }: Transfer, time: Date, now: Date): Date => {
  const proven = time.getTime() - BLOCK_LEAD_MS[asset.split(':')[0]!]!;
  return now.getTime() >= proven ? now : new Date(proven);
};

/** A transfer that a block contains. Clocks of miners run ahead, so no block counts as later than now. */
export const mined = (
  transfer: Transfer,
  { ref, time }: Pick<Block, 'ref' | 'time'>,
  seen: Seen,
  known: SeenTransfer | undefined,
  now: Date,
): SeenTransfer => ({
  ...(known ?? unreported),
  ...transfer,
  ...present,
  seenAt: earlier(known?.seenAt ?? seenFirst(transfer, time, now), time),
  block: ref,
  seen,
});

/** A known transfer that an earlier reading showed in this block, and this one does not. */
export const stillIn = (known: SeenTransfer, ref: BlockRef, seen: Seen): SeenTransfer => ({
  ...known,
  ...present,
  block: ref,
  seen,
});

/** A transfer that no block contains any more. */
export const unmined = (known: SeenTransfer, readUpTo: number, now: Date): SeenTransfer => ({
  ...known,
  block: null,
  lostHash: known.block?.hash ?? known.lostHash,
  lostAt: readUpTo,
  vanishedAt: now,
});

/** A transfer in the mempool. */
export const pooled = (transfer: Transfer, known: SeenTransfer | undefined, now: Date): SeenTransfer => ({
  ...(known ?? { ...transfer, ...unreported, ...present, seenAt: now, block: null, seen: UNSEEN }),
  vanishedAt: null,
});

export const confirmationsOf = ({ block }: SeenTransfer, height: number): number =>
  block ? Math.max(0, height - block.height + 1) : 0;

/** Whether a transfer may still change, or has something to report. The column `open` computes the same. */
export const isOpen = ({ block, vanishedAt, reported, pending, seen }: SeenTransfer): boolean => {
  if (pending || (block !== null && !seen.isShown)) return true;
  switch (reported?.status) {
    case undefined:
      return block !== null || vanishedAt === null;
    case 'received':
      return true;
    case 'confirmed':
      return block === null || block.hash !== reported?.block;
    case 'failed':
      return block !== null;
    case 'ignored':
    case 'refused':
      return false;
  }
};

export type Quorum = (transfer: Pick<SeenTransfer, 'asset' | 'units'>) => number;
