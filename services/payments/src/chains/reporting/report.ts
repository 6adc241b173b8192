import { isCorrected } from '../chain-source.ts';
import { confirmationsOf, isAgreed, isTakenOut, type Report, type SeenTransfer } from '../reading/seen-transfer.ts';
import type { ReadSoFar } from '../reading/watcher.ts';

/** How long a transfer that was never applied may be gone before its payment fails. */
const VANISHED_MS = 24 * 3_600_000;

/** What a transfer needs before it is confirmed. */
interface Needs {
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
