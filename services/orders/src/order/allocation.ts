import type { PaymentState } from '@cpg/contracts';

export interface Allocated {
  readonly paymentId: string;
  /** All that now counts of the payment, with what counted before. */
  readonly appliedMinor: bigint;
  /** The rest of the payment, with the part that was refunded before. */
  readonly unappliedMinor: bigint;
}

/** Allocates payments to the remaining amount, in the given sequence. With `canOverpay` every payment is applied in
 *  full. Otherwise the part of a payment that exceeds the remaining amount is unapplied, and a payment for which
 *  nothing remains is in `surplus`. `spareMinor` is the part of a payment that may count and does not yet. Amounts in
 *  minor units. */
export const allocate = <P extends Pick<PaymentState, 'paymentId' | 'amountMinor' | 'appliedMinor'>>(
  remainingMinor: bigint,
  payments: readonly P[],
  { canOverpay, spareMinor }: { canOverpay: boolean; spareMinor: (payment: P) => bigint },
): { allocations: Allocated[]; surplus: P[]; addedMinor: bigint } => {
  const allocations: Allocated[] = [];
  const surplus: P[] = [];
  let addedMinor = 0n;
  for (const payment of payments) {
    const { paymentId, amountMinor } = payment;
    const spare = spareMinor(payment);
    const left = remainingMinor > addedMinor ? remainingMinor - addedMinor : 0n;
    const added = canOverpay || spare < left ? spare : left;
    if (added === 0n) {
      surplus.push(payment);
      continue;
    }
    const appliedMinor = payment.appliedMinor + added;
    allocations.push({ paymentId, appliedMinor, unappliedMinor: amountMinor - appliedMinor });
    addedMinor += added;
  }
  return { allocations, surplus, addedMinor };
};
