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
import { divideUp, later } from '@cpg/contracts';
import { fold, ignoreUnknownEvent } from '@cpg/core';

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
  /** What all items cost at the locked rates: what `totalMinor` is, until a renewal prices anew what was not paid yet. */
  readonly pricedMinor: bigint;
  /** What `pricedMinor` was when a payment applied, by payment: what part of the order it stands for. */
  readonly pricedWhenApplied: Readonly<Record<string, bigint>>;
  readonly instructions: readonly AssignedInstruction[];
  /** Oldest first. */
  readonly payments: readonly PaymentState[];
  readonly expirationMinutes: number;
  readonly expiresAt: string;
  readonly renewals: number;
  /** How often its merchant changed it. */
  readonly changes: number;
  readonly metadata?: Metadata | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** The latest instant that an event of it bears. News of payments bears the instant of the payment, and may be late. */
  readonly lastEventAt: string;
}

export type Order =
  { readonly status: 'none' } | { readonly status: 'deleted'; readonly was: ExistingOrder } | ExistingOrder;

export const MAX_RENEWALS = 24;
/** How many payments an order takes note of, and how often it is changed. Every message shows all of an order, and every reader reads its whole
 *  stream: without an end to both, one order would hold up all others. */
export const MAX_PAYMENTS = 250;
export const MAX_CHANGES = 1_000;
/** How long a payment that its rail saw in time, but has not confirmed, keeps its order open past the deadline. */
export const PENDING_HOLDS_OPEN_MS = 24 * 60 * 60_000;

const OPEN: readonly OrderStatus[] = ['initialized', 'awaiting_payment', 'partially_paid'];
export const isExpired = (status: OrderStatus): boolean => status === 'expired' || status === 'partially_paid_expired';

export const exists = (order: Order): order is ExistingOrder => order.status !== 'none' && order.status !== 'deleted';

/** Whether it takes payments and may be canceled. */
export const isOpen = (order: ExistingOrder): boolean => OPEN.includes(order.status);

/** What counts towards the total: what payments were applied with and that was not taken back. A refund of a part is the merchant's
 *  doing and leaves it; a payment that is refunded whole does not count any more. */
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
    (payment) => payment.status === 'received' && !payment.confirmedAt && payment.seenAt <= order.expiresAt,
  );

/** Folds one recorded event. It never refuses: what is recorded has happened. */
export const evolve = (order: Order, event: OrderEvent): Order => {
  if (event.type === 'OrderCreated') {
    const { reason, at, totalMinor, instructions, ...data } = event.data;
    return {
      ...data,
      statusReason: reason,
      totalMinor: BigInt(totalMinor),
      pricedMinor: BigInt(totalMinor),
      pricedWhenApplied: {},
      instructions: instructions ?? [],
      payments: [],
      renewals: 0,
      changes: 0,
      createdAt: at,
      updatedAt: at,
      lastEventAt: at,
    };
  }
  if (!exists(order)) return order;
  const { at } = event.data;
  const updated = { ...order, updatedAt: at, lastEventAt: later(order.lastEventAt, at) };
  switch (event.type) {
    case 'OrderInstructed':
      return { ...updated, instructions: event.data.instructions, ...transition(event.data) };
    case 'OrderPaymentReceived':
      return { ...updated, payments: [...order.payments, received(order, event.data.payment, event.data.confirmed)] };
    case 'OrderPaymentConfirmed': {
      const { paymentId, confirmations, confirmedAt = at } = event.data;
      return withPayments(updated, [paymentId], (payment) => ({
        ...payment,
        confirmedAt,
        confirmations: confirmations ?? payment.confirmations,
        updatedAt: later(payment.updatedAt, confirmedAt),
      }));
    }
    case 'OrderPaymentsApplied': {
      const amounts = new Map(event.data.allocations.map((allocation) => [allocation.paymentId, allocation]));
      const priced = Object.fromEntries([...amounts.keys()].map((paymentId) => [paymentId, order.pricedMinor]));
      const pricedWhenApplied = { ...order.pricedWhenApplied, ...priced };
      const applied = { ...updated, pricedWhenApplied, ...transition(event.data) };
      return withPayments(applied, [...amounts.keys()], (payment) => ({
        ...payment,
        status: 'applied',
        orphanReason: undefined,
        appliedMinor: BigInt(amounts.get(payment.paymentId)!.appliedMinor),
        unappliedMinor: BigInt(amounts.get(payment.paymentId)!.unappliedMinor),
        updatedAt: later(payment.updatedAt, at),
      }));
    }
    case 'OrderPaymentsOrphaned':
      return withPayments(updated, event.data.paymentIds, orphaned(event.data.orphanReason, at));
    case 'OrderPaymentFailed': {
      const { paymentId, failureReason } = event.data;
      const failed = { ...updated, totalMinor: totalWithout(order, paymentId), ...transition(event.data) };
      return withPayments(failed, [paymentId], (payment) => ({
        ...payment,
        status: 'failed',
        failureReason,
        appliedMinor: 0n,
        unappliedMinor: 0n,
        updatedAt: at,
      }));
    }
    case 'OrderPaymentRefunded': {
      const { paymentId } = event.data;
      const refundedMinor = BigInt(event.data.refundedTotalMinor);
      const isWhole = order.payments.some((each) => each.paymentId === paymentId && each.amountMinor <= refundedMinor);
      const totalMinor = isWhole ? totalWithout(order, paymentId) : order.totalMinor;
      return withPayments({ ...updated, totalMinor, ...transition(event.data) }, [paymentId], (payment) =>
        isWhole
          ? { ...payment, refundedMinor, status: 'refunded', appliedMinor: 0n, unappliedMinor: 0n, updatedAt: at }
          : { ...payment, refundedMinor, updatedAt: later(payment.updatedAt, at) },
      );
    }
    case 'OrderPaid':
      return { ...updated, status: 'paid', statusReason: event.data.reason };
    case 'OrderUpdated': {
      const { metadata, expirationMinutes, expiresAt } = event.data;
      return {
        ...updated,
        changes: order.changes + 1,
        ...(metadata && { metadata }),
        ...(expirationMinutes !== undefined && { expirationMinutes }),
        ...(expiresAt && { expiresAt }),
      };
    }
    case 'OrderRenewed': {
      const { rates, totalMinor, pricedMinor = totalMinor, expiresAt, renewal } = event.data;
      return {
        ...updated,
        rates,
        totalMinor: BigInt(totalMinor),
        pricedMinor: BigInt(pricedMinor),
        expiresAt,
        renewals: renewal,
      };
    }
    case 'OrderTimeAdvanced': {
      const { minutes, expiresAt } = event.data;
      // All of its past is that much longer ago.
      const payments = order.payments.map((payment) => ({
        ...payment,
        seenAt: minutesBefore(payment.seenAt, minutes),
      }));
      return { ...updated, payments, expiresAt, changes: order.changes + 1 };
    }
    case 'OrderExpired':
      return withPayments(
        { ...updated, ...transition(event.data) },
        event.data.orphanedPaymentIds,
        orphaned('late', at),
      );
    case 'OrderCanceled':
      return withPayments(
        { ...updated, ...transition(event.data) },
        event.data.orphanedPaymentIds,
        orphaned('canceled', at),
      );
    case 'OrderDeleted':
      return { status: 'deleted', was: order };
    default:
      return ignoreUnknownEvent(event, order);
  }
};

/** The total once a payment does not count any more. Applied money keeps its value through renewals; without it, the part of an open order
 *  that it stood for is due at the rates locked now. An order that was paid keeps its price: the same money again settles it. */
const totalWithout = (order: ExistingOrder, paymentId: string): bigint => {
  const value = order.payments.find((payment) => payment.paymentId === paymentId)?.appliedMinor ?? 0n;
  if (value === 0n || !isOpen(order)) return order.totalMinor;
  if (value === appliedMinor(order)) return order.pricedMinor;
  return order.totalMinor - value + divideUp(order.pricedMinor * value, order.pricedWhenApplied[paymentId]!);
};

const transition = ({ status, reason }: { status: OrderStatus; reason: string }) => ({ status, statusReason: reason });

const orphaned =
  (orphanReason: OrphanReason, at: string) =>
  (payment: PaymentState): PaymentState => ({
    ...payment,
    status: 'orphan',
    orphanReason,
    appliedMinor: 0n,
    unappliedMinor: 0n,
    updatedAt: later(payment.updatedAt, at),
  });

const withPayments = (
  order: ExistingOrder,
  ids: readonly string[],
  change: (payment: PaymentState) => PaymentState,
): ExistingOrder => ({
  ...order,
  payments: order.payments.map((payment) => (ids.includes(payment.paymentId) ? change(payment) : payment)),
});

const received = (order: ExistingOrder, payment: OfferedPayment, confirmed: boolean): PaymentState => {
  const { paymentId, rail, providerId, currency, txHash, confirmations, metadata, seenAt, receivedAt } = payment;
  const confirmedAt = confirmed ? (payment.confirmedAt ?? receivedAt) : undefined;
  return {
    paymentId,
    merchantId: order.merchantId,
    orderId: order.orderId,
    rail,
    providerId,
    currency,
    amountMinor: BigInt(payment.amountMinor),
    feeMinor: BigInt(payment.feeMinor),
    appliedMinor: 0n,
    unappliedMinor: 0n,
    refundedMinor: 0n,
    status: 'received',
    confirmedAt,
    txHash,
    confirmations,
    metadata,
    seenAt,
    createdAt: receivedAt,
    updatedAt: confirmedAt ? later(receivedAt, confirmedAt) : receivedAt,
  };
};

const minutesBefore = (instant: string, minutes: number): string =>
  new Date(Date.parse(instant) - minutes * 60_000).toISOString();

/** `events`, then what follows from the state after them. */
export const then = (
  order: ExistingOrder,
  events: OrderEvent[],
  next: (after: ExistingOrder) => OrderEvent[],
): OrderEvent[] => {
  const after = fold({ evolve }, order as Order, events);
  return exists(after) ? [...events, ...next(after)] : events;
};
