import type { PaymentEvent } from './payment-events.ts';
import { laterOf, type PaymentState } from './payment-view.ts';

type Data = { [E in PaymentEvent as E['type']]: E['data'] };
type Change<T extends keyof Data, K extends keyof Data[T], O extends keyof Data[T] = never> = {
  readonly type: T;
  readonly data: { readonly [F in O]?: Data[T][F] | undefined } & Pick<Data[T], K | ('at' & keyof Data[T])>;
};

/** The change of an existing payment by an event of it, or of its order. */
export type PaymentChange =
  | Change<'PaymentConfirmed', 'confirmations'>
  | Change<'PaymentBlockChanged', 'block' | 'blockChanges' | 'unconfirmed', 'confirmations'>
  | Change<'PaymentApplied', 'appliedMinor' | 'unappliedMinor', 'smallestPayableMinor'>
  | Change<'PaymentOrphaned', 'orphanReason'>
  | Change<'PaymentFailed', 'failureReason'>
  | Change<'PaymentReinstated', 'sighting' | 'confirmed' | 'confirmations' | 'block' | 'blockChanges'>
  | Change<'PaymentRefunded', 'refundedTotalMinor', 'orderRefundedTotalMinor'>;

const NOTHING_APPLIED = { appliedMinor: 0n, unappliedMinor: 0n };
// Not at a refund: money that counted until it went back was applied.
const NEVER_APPLIED = { ...NOTHING_APPLIED, appliedAt: undefined };

/** The payment after a change. Orders and payments both fold by it, so they show the same payment. */
export const paymentAfter = <P extends PaymentState>(payment: P, change: PaymentChange): P => {
  const { at } = change.data;
  const updated = { ...payment, updatedAt: laterOf(payment.updatedAt, at) };
  // By a slower clock, an event may be older than the payment. Lists rely on the order of these times.
  const enteredAt = laterOf(payment.createdAt, at);
  switch (change.type) {
    case 'PaymentConfirmed': {
      const { confirmations = payment.confirmations } = change.data;
      return { ...updated, confirmedAt: at, confirmations };
    }
    case 'PaymentBlockChanged': {
      const { block, confirmations, blockChanges, unconfirmed } = change.data;
      const confirmedAt = unconfirmed ? undefined : payment.confirmedAt;
      return { ...updated, block, confirmations, blockChanges, confirmedAt };
    }
    case 'PaymentApplied': {
      const [appliedMinor, unappliedMinor] = [BigInt(change.data.appliedMinor), BigInt(change.data.unappliedMinor)];
      const { smallestPayableMinor: smallest } = change.data;
      const smallestPayableMinor = smallest === undefined ? undefined : BigInt(smallest);
      return {
        ...updated,
        status: 'applied',
        orphanReason: undefined,
        appliedMinor,
        unappliedMinor,
        smallestPayableMinor,
        appliedAt: enteredAt,
      };
    }
    case 'PaymentOrphaned':
      return { ...updated, status: 'orphan', orphanReason: change.data.orphanReason, ...NEVER_APPLIED };
    case 'PaymentFailed':
      return {
        ...updated,
        status: 'failed',
        failureReason: change.data.failureReason,
        failedAt: enteredAt,
        ...NEVER_APPLIED,
      };
    case 'PaymentReinstated': {
      const { sighting, confirmed, confirmations, block, blockChanges = payment.blockChanges } = change.data;
      return {
        ...updated,
        status: 'received',
        sighting,
        failureReason: undefined,
        failedAt: undefined,
        orphanReason: undefined,
        confirmedAt: confirmed ? at : undefined,
        confirmations,
        block,
        blockChanges,
      };
    }
    case 'PaymentRefunded': {
      const refundedMinor = BigInt(change.data.refundedTotalMinor);
      const { orderRefundedTotalMinor: ofOrder } = change.data;
      const refunded = { refundedMinor, ...(ofOrder !== undefined && { orderRefundedMinor: BigInt(ofOrder) }) };
      if (refundedMinor < payment.amountMinor) return { ...updated, ...refunded };
      return { ...updated, ...refunded, status: 'refunded', refundedAt: enteredAt, ...NOTHING_APPLIED };
    }
  }
};
