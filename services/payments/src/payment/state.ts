import {
  laterOf,
  paymentAfter,
  type PaymentEvent,
  type PaymentState,
  recordedRefund,
  type RefundState,
} from '@cpg/contracts';
import { ignoreUnknownEvent } from '@cpg/event-sourcing/decider';

/** To whom an operator gave unclaimed money. */
export interface Assignment {
  readonly merchantId: string;
  /** Undefined if no order of the merchant got it. */
  readonly orderId: string | undefined;
  readonly by: string;
  readonly at: string;
}

export interface ExistingPayment extends PaymentState {
  /** Oldest first. */
  readonly refunds: readonly RefundState[];
  readonly assignment?: Assignment | undefined;
  /** The order that its rail named, if the payment was assigned to another one. */
  readonly reportedOrderId?: string | undefined;
}

export type Payment = { readonly status: 'none' } | ExistingPayment;

/** The merchant of unclaimed payments: their order does not exist. An operator has to resolve them. */
export const UNCLAIMED_MERCHANT = 'mer_00000000000000000000000000';

export const exists = (payment: Payment): payment is ExistingPayment => payment.status !== 'none';

/** Whether no order decides on the payment. */
export const isWithoutOrder = ({
  merchantId,
  assignment,
}: Pick<ExistingPayment, 'merchantId' | 'assignment'>): boolean =>
  merchantId === UNCLAIMED_MERCHANT || (assignment !== undefined && assignment.orderId === undefined);

/** The amount that can still be refunded, in minor units. */
export const refundableMinor = (payment: ExistingPayment): bigint => payment.amountMinor - payment.refundedMinor;

/** Applies one recorded event. Never throws: a recorded event is a fact. */
export const evolve = (payment: Payment, event: PaymentEvent): Payment => {
  if (event.type === 'PaymentReceived') {
    const { amountMinor, feeMinor, feeSchedule: _, confirmed, at, ...data } = event.data;
    return {
      ...data,
      amountMinor: BigInt(amountMinor),
      feeMinor: BigInt(feeMinor),
      appliedMinor: 0n,
      unappliedMinor: 0n,
      refundedMinor: 0n,
      status: 'received',
      confirmedAt: confirmed ? at : undefined,
      refunds: [],
      createdAt: at,
      updatedAt: at,
    };
  }
  if (!exists(payment)) return payment;
  const { at } = event.data;
  switch (event.type) {
    case 'PaymentConfirmed':
    case 'PaymentBlockChanged':
    case 'PaymentApplied':
    case 'PaymentOrphaned':
    case 'PaymentFailed':
    case 'PaymentReinstated':
      return paymentAfter(payment, event);
    case 'PaymentRefunded':
      return { ...paymentAfter(payment, event), refunds: [...payment.refunds, recordedRefund(event.data)] };
    case 'PaymentAssigned': {
      const { merchantId, orderId, by, sighting } = event.data;
      return {
        ...payment,
        updatedAt: laterOf(payment.updatedAt, at),
        merchantId,
        ...(orderId !== undefined && { orderId, reportedOrderId: payment.orderId }),
        assignment: { merchantId, orderId, by, at },
        status: 'received',
        orphanReason: undefined,
        sighting,
      };
    }
    default:
      return ignoreUnknownEvent(event, payment);
  }
};
