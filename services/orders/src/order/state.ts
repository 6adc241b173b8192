import type {
  AssignedInstruction,
  Capabilities,
  Item,
  Metadata,
  OfferedPayment,
  OrderEvent,
  OrderStatus,
  OrphanReason,
  PaymentCurrency,
  PaymentRail,
  PaymentState,
  Rates,
} from '@cpg/contracts';
import { unreachable } from '@cpg/core';

export interface ExistingOrder {
  readonly status: OrderStatus;
  readonly statusReason: string;
  readonly orderId: string;
  readonly merchantId: string;
  readonly externalReferenceId: string;
  readonly items: readonly Item[];
  readonly rails: readonly PaymentRail[];
  readonly currency: PaymentCurrency;
  readonly capabilities: Capabilities;
  readonly rates: Rates;
  readonly totalMinor: bigint;
  readonly instructions: readonly AssignedInstruction[];
  /** Oldest first. */
  readonly payments: readonly PaymentState[];
  readonly expirationMinutes: number;
  readonly expiresAt: string;
  readonly renewals: number;
  readonly metadata?: Metadata | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type Order = { readonly status: 'none' } | { readonly status: 'deleted' } | ExistingOrder;

export const MAX_RENEWALS = 24;
/** How long a payment that its rail saw in time, but has not confirmed, keeps its order open past the deadline. */
export const PENDING_HOLDS_OPEN_MS = 24 * 60 * 60_000;

const OPEN: readonly OrderStatus[] = ['initialized', 'awaiting_payment', 'partially_paid'];
export const isExpired = (status: OrderStatus): boolean => status === 'expired' || status === 'partially_paid_expired';

export const exists = (order: Order): order is ExistingOrder => order.status !== 'none' && order.status !== 'deleted';

/** Whether it takes payments and may be canceled. */
export const isOpen = (order: ExistingOrder): boolean => OPEN.includes(order.status);

/** What counts towards the total: payments applied and not taken back. */
export const appliedMinor = (order: ExistingOrder): bigint =>
  order.payments.reduce((sum, payment) => sum + payment.appliedMinor, 0n);

/** max(0, total - applied), in minor units of the order's currency. */
export const remainingMinor = (order: ExistingOrder): bigint => {
  const remaining = order.totalMinor - appliedMinor(order);
  return remaining > 0n ? remaining : 0n;
};

/** Whether the order gets new quotes at its deadline instead of expiring. */
export const renews = (order: ExistingOrder): boolean =>
  isOpen(order) && order.capabilities.expiration_auto_renewal && order.renewals < MAX_RENEWALS;

/** Whether a payment that its rail saw in time is still to be confirmed, which keeps the order open past its deadline, at most 24 hours. */
export const heldOpen = (order: ExistingOrder, at: Date): boolean =>
  at.getTime() < Date.parse(order.expiresAt) + PENDING_HOLDS_OPEN_MS &&
  order.payments.some(
    (payment) => payment.status === 'received' && !payment.confirmed && payment.seenAt <= order.expiresAt,
  );

/** Folds one recorded event. It never refuses: what is recorded has happened. */
export const evolve = (order: Order, event: OrderEvent): Order => {
  if (event.type === 'OrderCreated') {
    const { reason, at, totalMinor, instructions, ...data } = event.data;
    return {
      ...data,
      statusReason: reason,
      totalMinor: BigInt(totalMinor),
      instructions: instructions ?? [],
      payments: [],
      renewals: 0,
      createdAt: at,
      updatedAt: at,
    };
  }
  if (!exists(order)) return order;
  const { at } = event.data;
  const updated = { ...order, updatedAt: at };
  switch (event.type) {
    case 'OrderInstructed':
      return { ...updated, instructions: event.data.instructions, ...transition(event.data) };
    case 'OrderPaymentReceived':
      return { ...updated, payments: [...order.payments, received(order, event.data.payment, event.data.confirmed)] };
    case 'OrderPaymentConfirmed': {
      const { paymentId, confirmations } = event.data;
      return withPayments(updated, [paymentId], (payment) => ({
        ...payment,
        confirmed: true,
        confirmations: confirmations ?? payment.confirmations,
      }));
    }
    case 'OrderPaymentsApplied': {
      const amounts = new Map(event.data.allocations.map((allocation) => [allocation.paymentId, allocation]));
      return withPayments({ ...updated, ...transition(event.data) }, [...amounts.keys()], (payment) => ({
        ...payment,
        status: 'applied',
        confirmed: true,
        orphanReason: undefined,
        appliedMinor: BigInt(amounts.get(payment.paymentId)!.appliedMinor),
        unappliedMinor: BigInt(amounts.get(payment.paymentId)!.unappliedMinor),
      }));
    }
    case 'OrderPaymentsOrphaned':
      return withPayments(updated, event.data.paymentIds, orphaned(event.data.orphanReason));
    case 'OrderPaymentFailed': {
      const { paymentId, failureReason } = event.data;
      return withPayments({ ...updated, ...transition(event.data) }, [paymentId], (payment) => ({
        ...payment,
        status: 'failed',
        failureReason,
        appliedMinor: 0n,
        unappliedMinor: 0n,
      }));
    }
    case 'OrderPaymentRefunded': {
      const refundedMinor = BigInt(event.data.refundedTotalMinor);
      return withPayments({ ...updated, ...transition(event.data) }, [event.data.paymentId], (payment) =>
        refundedMinor < payment.amountMinor
          ? { ...payment, refundedMinor }
          : { ...payment, refundedMinor, status: 'refunded', appliedMinor: 0n, unappliedMinor: 0n },
      );
    }
    case 'OrderPaid':
      return { ...updated, status: 'paid', statusReason: event.data.reason };
    case 'OrderUpdated': {
      const { metadata, expirationMinutes, expiresAt } = event.data;
      return {
        ...updated,
        ...(metadata && { metadata }),
        ...(expirationMinutes !== undefined && { expirationMinutes }),
        ...(expiresAt && { expiresAt }),
      };
    }
    case 'OrderRenewed': {
      const { rates, totalMinor, expiresAt, renewal } = event.data;
      return { ...updated, rates, totalMinor: BigInt(totalMinor), expiresAt, renewals: renewal };
    }
    case 'OrderExpired':
      return withPayments({ ...updated, ...transition(event.data) }, event.data.orphanedPaymentIds, orphaned('late'));
    case 'OrderCanceled':
      return withPayments(
        { ...updated, ...transition(event.data) },
        event.data.orphanedPaymentIds,
        orphaned('canceled'),
      );
    case 'OrderDeleted':
      return { status: 'deleted' };
    default:
      return unreachable(event);
  }
};

const transition = ({ status, reason }: { status: OrderStatus; reason: string }) => ({ status, statusReason: reason });

const orphaned =
  (orphanReason: OrphanReason) =>
  (payment: PaymentState): PaymentState => ({
    ...payment,
    status: 'orphan',
    orphanReason,
    appliedMinor: 0n,
    unappliedMinor: 0n,
  });

const withPayments = (
  order: ExistingOrder,
  ids: readonly string[],
  change: (payment: PaymentState) => PaymentState,
): ExistingOrder => ({
  ...order,
  payments: order.payments.map((payment) =>
    ids.includes(payment.paymentId) ? { ...change(payment), updatedAt: order.updatedAt } : payment,
  ),
});

const received = (order: ExistingOrder, payment: OfferedPayment, confirmed: boolean): PaymentState => ({
  paymentId: payment.paymentId,
  merchantId: order.merchantId,
  orderId: order.orderId,
  rail: payment.rail,
  providerId: payment.providerId,
  currency: payment.currency,
  amountMinor: BigInt(payment.amountMinor),
  feeMinor: BigInt(payment.feeMinor),
  appliedMinor: 0n,
  unappliedMinor: 0n,
  refundedMinor: 0n,
  status: 'received',
  confirmed,
  txHash: payment.txHash,
  confirmations: payment.confirmations,
  metadata: payment.metadata,
  seenAt: payment.seenAt,
  createdAt: payment.receivedAt,
  updatedAt: payment.receivedAt,
});
