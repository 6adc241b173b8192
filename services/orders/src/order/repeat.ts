import { AppError, ID_PREFIXES } from '@cpg/contracts';
import type { Idempotency } from '@cpg/event-sourcing';
import { ulidOf } from '@cpg/platform';

/** How long an Idempotency-Key stands for the order that it created. */
const KEPT_FOR_MS = 24 * 60 * 60 * 1_000;

export const keptUntil = (recordedAt: string): string => new Date(Date.parse(recordedAt) + KEPT_FOR_MS).toISOString();

/** What the first event of an order records for repeats. */
export const idempotencyOf = (requestHash: string, at: Date): Idempotency => ({
  requestHash,
  until: keptUntil(at.toISOString()),
});

/** The order id of the n-th use of an Idempotency-Key, from 0. A use begins when the one before it has expired.
 *  `firstId` is the id of the first use, which the gateway derives from merchant and key. */
export const orderIdOfUse = (firstId: string, use: number): string =>
  use === 0 ? firstId : `${ID_PREFIXES.order}_${ulidOf(`${firstId}\n${use}`)}`;

/** What decides on a create whose order id was used before. */
export interface EarlierUse extends Partial<Idempotency> {
  readonly isDeleted: boolean;
}

/** Decides on a create whose order id was used before: a repeat gets the order of the earlier one; an expired key can
 *  create another order. Without a `requestHash` the id was made for this one request. Throws `idempotency_key_reused`
 *  for another request, and `order_deleted`. */
export const decideRepeat = (
  earlier: EarlierUse,
  { requestHash, at }: { readonly requestHash?: string | undefined; readonly at: Date },
): 'repeat' | 'expired' => {
  if (requestHash !== undefined && earlier.until !== undefined && at.toISOString() >= earlier.until) return 'expired';
  if (requestHash !== undefined && earlier.requestHash !== undefined && earlier.requestHash !== requestHash)
    throw new AppError('idempotency_key_reused', 'this Idempotency-Key was used with another request: use a new key');
  if (earlier.isDeleted)
    throw new AppError('order_deleted', 'the order of this request was deleted: use a new Idempotency-Key');
  return 'repeat';
};

/** The last use that `isRecorded`, given that use 0 is. Uses are recorded one after another, so a key that is used
 *  every day for years needs few look-ups. */
export const lastUse = async (isRecorded: (use: number) => Promise<boolean>): Promise<number> => {
  let last = 0;
  let beyond = 1;
  while (await isRecorded(beyond)) [last, beyond] = [beyond, beyond * 2];
  while (beyond - last > 1) {
    const middle = Math.floor((last + beyond) / 2);
    if (await isRecorded(middle)) last = middle;
    else beyond = middle;
  }
  return last;
};
