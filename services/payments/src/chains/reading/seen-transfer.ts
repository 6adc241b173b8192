import { BLOCK_LEAD_MS } from '../nodes/agreement.ts';
import { type Block, type BlockRef, isCorrected, type Transfer } from '../chain-source.ts';

/** The last report about a transfer. `confirmed` without a block: applied, then reorganized away.
 *  `ignored`: less than a minor unit. `refused`: payments can never record it. */
export type ReportStatus = 'received' | 'confirmed' | 'failed' | 'ignored' | 'refused';

export interface Report {
  readonly status: ReportStatus;
  /** Hash of the block that contains the transfer; null for none. */
  readonly block: string | null;
}

/** What the readings of a block showed of one transfer. */
export interface Seen {
  /** Whether the last reading showed it. */
  readonly isShown: boolean;
  /** How many readings in a row said the same as the last one. A proven reading counts twice, unless it is the first. */
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
  /** What the readings of that block showed. */
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

/** The time at which a block can have been seen first: now, or more if its own time proves that this clock is behind. */
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

/** How long a transfer that was never applied may be gone before its payment fails. */
const VANISHED_MS = 24 * 3_600_000;

export interface ReadSoFar {
  readonly height: number;
  /** Whether the source has no further block, and its mempool was read. */
  readonly isAtTip: boolean;
  readonly now: Date;
  /** Of the kind of the chain. */
  readonly graceBlocks: number;
}

export const confirmationsOf = ({ block }: SeenTransfer, height: number): number =>
  block ? Math.max(0, height - block.height + 1) : 0;

/** What a transfer needs before it is confirmed. */
export interface Needs {
  readonly required: number;
  /** So many nodes must have shown it. */
  readonly quorum: number;
}

/** The report that is due, or null. A confirmation counts for one block: in a new block, an
 *  unapplied payment needs its confirmations again. */
export const reportOf = (transfer: SeenTransfer, readSoFar: ReadSoFar, { required, quorum }: Needs): Report | null => {
  const { block, reported, pending, seen } = transfer;
  const last = pending ?? reported;
  if (last?.status === 'ignored' || last?.status === 'refused') return last;
  if (!block) return reportWithoutBlock(transfer, last, readSoFar, required);
  // Another amount of known money is nobody's payment before readings agree on it.
  if (last === null && isCorrected(transfer) && !isAgreed(seen, 1)) return null;
  const isConfirmedHere = (report: Report | null) => report?.status === 'confirmed' && report.block === block.hash;
  const wasConfirmedHere = isConfirmedHere(reported) || (seen.isShown && isConfirmedHere(pending));
  const isDeepEnough = confirmationsOf(transfer, readSoFar.height) >= required;
  const isConfirmed = wasConfirmedHere || (isDeepEnough && isAgreed(seen, quorum));
  return { status: isConfirmed ? 'confirmed' : 'received', block: block.hash };
};

const reportWithoutBlock = (
  transfer: SeenTransfer,
  last: Report | null,
  { height, isAtTip, now, graceBlocks }: ReadSoFar,
  required: number,
): Report | null => {
  const { lostAt, vanishedAt, conflictAt } = transfer;
  const received = { status: 'received', block: null } as const;
  if (last === null) return vanishedAt ? null : received;
  if (last.status === 'failed') return last;
  const failed = { status: 'failed', block: null } as const;
  if (isTakenOut(transfer)) return failed;
  if (conflictAt !== null && height - conflictAt + 1 >= required) return failed;
  if (last.status === 'confirmed')
    return lostAt !== null && height >= lostAt + graceBlocks ? failed : { status: 'confirmed', block: null };
  const isGone = vanishedAt !== null && now.getTime() - vanishedAt.getTime() >= VANISHED_MS;
  return isAtTip && isGone ? failed : received;
};

export const isSameReport = (a: Report | null, b: Report | null): boolean =>
  a?.status === b?.status && a?.block === b?.block;

/** Why a payment fails whose transfer is gone. */
export const failureReasonOf = (
  transfer: SeenTransfer,
): 'misread' | 'double_spend' | 'replaced' | 'reorg' | 'dropped' => {
  const { conflictAt, replacedBy, reported } = transfer;
  if (isTakenOut(transfer)) return 'misread';
  if (conflictAt !== null) return replacedBy === null ? 'double_spend' : 'replaced';
  return reported?.status === 'confirmed' ? 'reorg' : 'dropped';
};

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
