import { type Checkout, decimalsIn, fromMinor, toMinor } from '@cpg/contracts';
import type { UnsettledRefund } from './checkout-queries.ts';
import { pageClaimPath } from './page-link.ts';

/** The refunds for which the payer can enter an address. `dueBackById` has what is due back of each payment: refunds take
 *  it before the rest of the payment, the oldest refund first. */
export const refundClaims = (
  {
    reference,
    unsettledRefunds,
  }: { readonly reference: string; readonly unsettledRefunds: readonly UnsettledRefund[] },
  dueBackById: ReadonlyMap<string, bigint>,
  now: Date,
): Checkout['refund_claims'] => {
  const left = new Map(dueBackById);
  return unsettledRefunds.flatMap(({ hash, refund }) => {
    const { payment_id, amount, currency, claim_expires_at = '' } = refund;
    const decimals = decimalsIn(amount);
    const [minor, due] = [toMinor(amount, decimals), left.get(payment_id) ?? 0n];
    const part = minor < due ? minor : due;
    left.set(payment_id, due - part);
    if (hash === null || claim_expires_at <= now.toISOString()) return [];
    return [{ amount, currency, of_due_back: fromMinor(part, decimals), path: pageClaimPath(reference, hash) }];
  });
};
