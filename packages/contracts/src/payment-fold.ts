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

/** The payment after a change. Orders and payments both fold by it, so they show the same payment. */
export const paymentAfter = <P extends PaymentState>(payment: P, change: PaymentChange): P => {
  const updated = { ...payment, updatedAt: laterOf(payment.updatedAt, change.data.at) };
  switch (change.type) {
    case 'PaymentConfirmed': {
      const { at: confirmedAt, confirmations = payment.confirmations } = change.data;
      return { ...updated, confirmedAt, confirmations };
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
      };
    }
    case 'PaymentOrphaned':
      return { ...updated, status: 'orphan', orphanReason: change.data.orphanReason, ...NOTHING_APPLIED };
    case 'PaymentFailed':
      return { ...updated, status: 'failed', failureReason: change.data.failureReason, ...NOTHING_APPLIED };
    case 'PaymentReinstated': {
      const { sighting, confirmed, confirmations, block, blockChanges = payment.blockChanges, at } = change.data;
      return {
        ...updated,
        status: 'received',
        sighting,
        failureReason: undefined,
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
      return { ...updated, ...refunded, status: 'refunded', ...NOTHING_APPLIED };
    }
  }
};
