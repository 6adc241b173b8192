import { isAppError, isTemporary } from '@cpg/contracts';
import { isCorrected } from '../chain-source.ts';
import {
  confirmationsOf,
  isAgreed,
  isTakenOut,
  type Report,
  type ReportFailure,
  type SeenTransfer,
} from '../reading/seen-transfer.ts';
import type { ReadSoFar } from '../reading/watcher.ts';

/** How long a transfer that was never applied may be gone before its payment fails. */
const VANISHED_MS = 24 * 3_600_000;

/** The conditions before a transfer is confirmed. */
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

const FIRST_RETRY_MS = 5_000;
/** A dependency that is available again gets the reports soon. */
const LONGEST_OUTAGE_RETRY_MS = 30_000;
const LONGEST_RETRY_MS = 5 * 60_000;
const LONGEST_REASON = 500;

/** The chain is not read while an attempt waits for an answer, so those that get none become rare too. */
const isOutage = (error: unknown): boolean => isTemporary(error) && !isAppError(error, 'outcome_unknown');

export const failureAfter = (earlier: ReportFailure | null, error: unknown, now: Date): ReportFailure => {
  const { attempts, firstAt } = earlier ?? { attempts: 0, firstAt: now };
  const longestMs = isOutage(error) ? LONGEST_OUTAGE_RETRY_MS : LONGEST_RETRY_MS;
  const retryMs = Math.min(longestMs, FIRST_RETRY_MS * 2 ** Math.min(attempts, 10));
  return {
    attempts: attempts + 1,
    firstAt,
    lastAt: now,
    retryAt: new Date(now.getTime() + retryMs),
    reason: reasonOf(error),
  };
};

/** A later time than any retry gets is one from before the clock was set back. */
export const isRetryDue = (retryAt: Date, now: Date): boolean => {
  const waitMs = retryAt.getTime() - now.getTime();
  return waitMs <= 0 || waitMs > LONGEST_RETRY_MS;
};

const reasonOf = (error: unknown): string => {
  const text =
    error instanceof Error ? `${isAppError(error) ? error.code : error.name}: ${error.message}` : String(error);
  return text.replaceAll('\0', '').slice(0, LONGEST_REASON);
};
