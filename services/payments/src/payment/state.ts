import {
  dueBackMinor,
  laterOf,
  paymentAfter,
  type PaymentEvent,
  paymentBreakdown,
  type PaymentState,
  type RecordedOrderReference,
  recordedRefund,
  type RefundState,
  type RefundStatus,
} from '@cpg/contracts';
import { ignoreUnknownEvent } from '@cpg/event-sourcing/decider';
import { type Posting, withPostings } from './postings.ts';

/** The link on which the payer can enter the address of a refund. */
interface RefundClaimLink {
  readonly tokenHash: string;
  /** Whether the payment page has it too. */
  readonly onPage: boolean;
  readonly expiresAt: string;
  /** How many links the refund had by now. */
  readonly number: number;
}

/** A refund as folded from its events. The merchant requests one from its own wallet: `sent` is in a block, `settled` is
 *  final. */
export interface PaymentRefund extends RefundState {
  readonly senders?: readonly string[] | undefined;
  readonly afterHeight?: number | undefined;
  readonly transferId?: string | undefined;
  readonly claim?: RefundClaimLink | undefined;
}

/** To whom an operator gave unclaimed money. */
export interface Assignment {
  readonly merchantId: string;
  /** Undefined if no order of the merchant got it. */
  readonly orderId: string | undefined;
  readonly by: string;
  readonly at: string;
}

export interface ExistingPayment extends PaymentState {
  /** How the merchant knew the order when the payment was recorded or assigned. Undefined if it belongs to no order. */
  readonly order?: RecordedOrderReference | undefined;
  /** Oldest first. */
  readonly refunds: readonly PaymentRefund[];
  /** The ledger of the payment, oldest first. */
  readonly postings: readonly Posting[];
  /** The refund that was recorded or settled last. An older request can be settled after a newer one. */
  readonly lastRefundId?: string | undefined;
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

export const findRefund = (
  { refunds }: Pick<ExistingPayment, 'refunds'>,
  refundId: string,
): PaymentRefund | undefined => refunds.find((refund) => refund.refundId === refundId);

/** Whether its money can be paid back: it arrived, and not all of it is refunded. */
export const isOwed = ({ status }: Pick<ExistingPayment, 'status'>): boolean =>
  status === 'applied' || status === 'orphan';

/** The amount of requested refunds that are not settled, in minor units. */
export const reservedMinor = ({ refunds }: Pick<ExistingPayment, 'refunds'>): bigint =>
  refunds.reduce((sum, { status, amountMinor }) => (isReserved(status) ? sum + amountMinor : sum), 0n);

/** Whether a refund in this status keeps its amount from other refunds. */
export const isReserved = (status: RefundStatus): boolean => status === 'pending' || status === 'sent';

/** The amount that can still be refunded, in minor units. */
export const refundableMinor = (payment: ExistingPayment): bigint =>
  payment.amountMinor - payment.refundedMinor - reservedMinor(payment);

/** The payment as if what requested refunds reserve was refunded. */
const withReservedRefunded = (payment: ExistingPayment): ExistingPayment => ({
  ...payment,
  refundedMinor: payment.refundedMinor + reservedMinor(payment),
});

/** The amount to give back that no requested refund reserves, in minor units. */
export const unreservedDueMinor = (payment: ExistingPayment): bigint => dueBackMinor(withReservedRefunded(payment));

/** What is left of the applied amount, beside what requested refunds reserve. */
export const appliedLeftMinor = (payment: ExistingPayment): bigint =>
  paymentBreakdown(withReservedRefunded(payment)).applied;

/** Applies one recorded event. Never throws: a recorded event is a fact. */
export const evolve = (payment: Payment, event: PaymentEvent): Payment => {
  const after = changed(payment, event);
  return exists(after) ? withPostings(exists(payment) ? payment : null, after, event) : after;
};

const changed = (payment: Payment, event: PaymentEvent): Payment => {
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
      postings: [],
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
    case 'PaymentRefunded': {
      const { refundId } = event.data;
      const refunded = { ...paymentAfter(payment, event), lastRefundId: refundId };
      if (findRefund(payment, refundId)) return withRefund(refunded, refundId, { status: 'settled', endedAt: at });
      return { ...refunded, refunds: [...payment.refunds, recordedRefund(event.data)] };
    }
    // Orders do not learn of these events, and both show the same `updated_at`.
    case 'PaymentRefundRequested': {
      const { refundId, amountMinor, reason, network, asset } = event.data;
      const money = { amountMinor: BigInt(amountMinor), network, asset };
      return { ...payment, refunds: [...payment.refunds, { refundId, status: 'pending', ...money, reason, at }] };
    }
    case 'PaymentRefundClaimIssued': {
      const { refundId, tokenHash, onPage, expiresAt } = event.data;
      const earlier = findRefund(payment, refundId)?.claim?.number ?? 0;
      return withRefund(payment, refundId, { claim: { tokenHash, onPage, expiresAt, number: earlier + 1 } });
    }
    case 'PaymentRefundClaimed':
    case 'PaymentRefundAddressed': {
      const { refundId, destination, senders, afterHeight } = event.data;
      return withRefund(payment, refundId, { destination, senders, afterHeight });
    }
    case 'PaymentRefundSent': {
      const { refundId, transferId, txHash } = event.data;
      return withRefund(payment, refundId, { status: 'sent', transferId, txHash });
    }
    case 'PaymentRefundReopened':
      return withRefund(payment, event.data.refundId, { status: 'pending', transferId: undefined, txHash: undefined });
    case 'PaymentRefundCanceled':
      return withRefund(payment, event.data.refundId, { status: 'canceled', endedAt: at });
    case 'PaymentAssigned': {
      const { merchantId, orderId, order, by, sighting } = event.data;
      return {
        ...payment,
        updatedAt: laterOf(payment.updatedAt, at),
        merchantId,
        ...(orderId !== undefined && { orderId, order, reportedOrderId: payment.orderId }),
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

const withRefund = (payment: ExistingPayment, refundId: string, change: Partial<PaymentRefund>): ExistingPayment => ({
  ...payment,
  refunds: payment.refunds.map((refund) => (refund.refundId === refundId ? { ...refund, ...change } : refund)),
});
