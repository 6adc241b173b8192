import type { PaymentState } from '@cpg/contracts';

export interface Allocated {
  readonly paymentId: string;
  readonly appliedMinor: bigint;
  /** The rest of the payment, with the part that was refunded before. */
  readonly unappliedMinor: bigint;
}

/** Allocates payments to the remaining amount, in the given sequence. With `canOverpay` every payment is applied in
 *  full. Otherwise the part of a payment that exceeds the remaining amount is unapplied, and a payment for which
 *  nothing remains is in `surplus`. `applicableMinor` is the part of a payment that may count. Amounts in minor
 *  units. */
export const allocate = <P extends Pick<PaymentState, 'paymentId' | 'amountMinor'>>(
  remainingMinor: bigint,
  payments: readonly P[],
  { canOverpay, applicableMinor }: { canOverpay: boolean; applicableMinor: (payment: P) => bigint },
): { allocations: Allocated[]; surplus: P[] } => {
  const allocations: Allocated[] = [];
  const surplus: P[] = [];
  let remaining = remainingMinor;
  for (const payment of payments) {
    const { paymentId, amountMinor } = payment;
    const applicable = applicableMinor(payment);
    const applied = canOverpay || applicable < remaining ? applicable : remaining;
    if (applied === 0n) {
      surplus.push(payment);
      continue;
    }
    allocations.push({ paymentId, appliedMinor: applied, unappliedMinor: amountMinor - applied });
    remaining = applied < remaining ? remaining - applied : 0n;
  }
  return { allocations, surplus };
};
