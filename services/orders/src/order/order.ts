import type {
  Allocation,
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
import { AppError, type Decider, fold, unreachable } from '@cpg/core';
import { allocate, type Allocated } from './allocation.ts';
import {
  appliedMinor,
  evolve,
  type ExistingOrder,
  exists,
  heldOpen,
  isExpired,
  isOpen,
  type Order,
  PENDING_HOLDS_OPEN_MS,
  remainingMinor,
  renews,
} from './state.ts';

export type CreateOrder = {
  readonly type: 'CreateOrder';
  readonly orderId: string;
  readonly merchantId: string;
  readonly externalReferenceId: string;
  readonly items: Item[];
  readonly rails: PaymentRail[];
  readonly currency: PaymentCurrency;
  readonly capabilities: Capabilities;
  readonly rates: Rates;
  readonly totalMinor: bigint;
  readonly expirationMinutes: number;
  readonly metadata?: Metadata | undefined;
  /** Absent while a provider is slow: `InstructOrder` brings them later. */
  readonly instructions?: AssignedInstruction[] | undefined;
  readonly at: Date;
};

export type OrderCommand =
  | CreateOrder
  | { readonly type: 'InstructOrder'; readonly instructions: AssignedInstruction[]; readonly at: Date }
  | { readonly type: 'OfferPayment'; readonly payment: OfferedPayment; readonly confirmed: boolean; readonly at: Date }
  | {
      readonly type: 'FailPayment';
      readonly payment: OfferedPayment;
      readonly failureReason: string;
      readonly at: Date;
    }
  | {
      readonly type: 'RefundPayment';
      readonly paymentId: string;
      readonly refundId: string;
      readonly refundedTotalMinor: bigint;
      readonly at: Date;
    }
  | { readonly type: 'CapturePayments'; readonly at: Date }
  | { readonly type: 'CancelOrder'; readonly at: Date }
  | {
      readonly type: 'UpdateOrder';
      readonly metadata?: Metadata | undefined;
      readonly expirationMinutes?: number | undefined;
      readonly at: Date;
    }
  | { readonly type: 'RenewOrder'; readonly rates: Rates; readonly pricedMinor: bigint; readonly at: Date }
  | { readonly type: 'ExpireOrder'; readonly at: Date }
  | { readonly type: 'DeleteOrder'; readonly at: Date };

const decide = (command: OrderCommand, order: Order): OrderEvent[] => {
  if (command.type === 'CreateOrder') return order.status === 'none' ? [created(command)] : [];
  if (!exists(order)) throw new AppError('not_found', 'there is no such order');
  const at = command.at.toISOString();
  switch (command.type) {
    case 'InstructOrder': {
      if (order.status !== 'initialized') return [];
      const { instructions } = command;
      return then(
        order,
        [
          {
            type: 'OrderInstructed',
            data: { instructions, status: 'awaiting_payment', reason: 'instructions_ready', at },
          },
        ],
        (ready) => settle(ready, at),
      );
    }
    case 'OfferPayment':
      return offer(command, order);
    case 'FailPayment':
      return failPayment(command, order);
    case 'RefundPayment':
      return refundPayment(command, order);
    case 'CapturePayments':
      return capture(order, at);
    case 'CancelOrder':
      return cancel(order, at);
    case 'UpdateOrder':
      return update(command, order);
    case 'RenewOrder':
      return renew(command, order);
    case 'ExpireOrder':
      if (!isOpen(order) || heldOpen(order, command.at)) return [];
      if (at < order.expiresAt) throw new AppError('order_state_conflict', 'the order is not due to expire');
      if (renews(order)) throw new AppError('order_state_conflict', 'the order renews at its deadline');
      return [expired(order, at)];
    case 'DeleteOrder':
      return remove(order, at);
    default:
      return unreachable(command);
  }
};

const created = ({ type: _, totalMinor, at, ...data }: CreateOrder): OrderEvent => ({
  type: 'OrderCreated',
  data: {
    ...data,
    totalMinor: String(totalMinor),
    expiresAt: plusMinutes(at, data.expirationMinutes),
    ...(data.instructions
      ? { status: 'awaiting_payment', reason: 'created' }
      : { status: 'initialized', reason: 'awaiting_instructions' }),
    at: at.toISOString(),
  },
});

// ---- money --------------------------------------------------------------------------------------------------------

const offer = (
  { payment, confirmed, at: now }: Extract<OrderCommand, { type: 'OfferPayment' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  const at = now.toISOString();
  const { paymentId, confirmations } = payment;
  const known = order.payments.find((candidate) => candidate.paymentId === paymentId);
  if (!known) {
    // The deadline is kept even where its timer is late.
    const lapsed =
      isOpen(order) &&
      at > order.expiresAt &&
      payment.seenAt > order.expiresAt &&
      !renews(order) &&
      !heldOpen(order, now);
    return then(order, lapsed ? [expired(order, at)] : [], (current) =>
      then(current, [{ type: 'OrderPaymentReceived', data: { payment, confirmed, at } }], (noticed) =>
        confirmed ? place(noticed, paymentId, now) : [],
      ),
    );
  }
  if (known.status !== 'received' || known.confirmed || !confirmed) return [];
  return then(
    order,
    [{ type: 'OrderPaymentConfirmed', data: { paymentId, ...(confirmations !== undefined && { confirmations }), at } }],
    (noticed) => place(noticed, paymentId, now),
  );
};

/** What a confirmed payment does to its order: it applies, is held, or is an orphan. */
const place = (order: ExistingOrder, paymentId: string, now: Date): OrderEvent[] => {
  const at = now.toISOString();
  const payment = order.payments.find((candidate) => candidate.paymentId === paymentId)!;
  const orphan = (orphanReason: OrphanReason): OrderEvent[] => [
    { type: 'OrderPaymentsOrphaned', data: { paymentIds: [paymentId], orphanReason, at } },
  ];
  if (payment.currency !== order.currency) return orphan('wrong_currency');
  if (order.status === 'canceled') return orphan('canceled');
  if (order.status === 'paid') return orphan('already_paid');
  if (!isExpired(order.status)) return settle(order, at);
  // Money that its rail saw in time counts, even if it was reported late.
  const inTime =
    payment.seenAt <= order.expiresAt && now.getTime() < Date.parse(order.expiresAt) + PENDING_HOLDS_OPEN_MS;
  const enough = order.capabilities.partial_payments || payment.amountMinor >= remainingMinor(order);
  return inTime && enough ? apply(order, [payment], 'payment_in_time', at) : orphan('late');
};

/** Applies what is held, once it settles the order or may count in part. */
const settle = (order: ExistingOrder, at: string): OrderEvent[] => {
  const held = order.payments.filter((payment) => payment.status === 'received' && payment.confirmed);
  if (held.length === 0 || order.status === 'initialized') return [];
  const sum = held.reduce((total, payment) => total + payment.amountMinor, 0n);
  if (sum >= remainingMinor(order)) return apply(order, held, 'payment_settled', at);
  return order.capabilities.partial_payments && isOpen(order) ? apply(order, held, 'partial_payment', at) : [];
};

const apply = (order: ExistingOrder, payments: readonly PaymentState[], reason: string, at: string): OrderEvent[] => {
  const { allocations, surplus } = allocate(remainingMinor(order), payments, order.capabilities.can_overpay);
  const sum = allocations.reduce((total, allocation) => total + allocation.appliedMinor, appliedMinor(order));
  const status = sum >= order.totalMinor ? 'paid' : partlyPaid(order.status);
  const events: OrderEvent[] = [];
  if (allocations.length > 0)
    events.push({ type: 'OrderPaymentsApplied', data: { allocations: allocations.map(written), status, reason, at } });
  if (status === 'paid' && order.status !== 'paid') events.push({ type: 'OrderPaid', data: { reason, at } });
  if (surplus.length > 0)
    events.push({ type: 'OrderPaymentsOrphaned', data: { paymentIds: surplus, orphanReason: 'already_paid', at } });
  return events;
};

const written = ({ paymentId, appliedMinor: applied, unappliedMinor }: Allocated): Allocation => ({
  paymentId,
  appliedMinor: String(applied),
  unappliedMinor: String(unappliedMinor),
});

const partlyPaid = (status: OrderStatus): OrderStatus => {
  if (status === 'reversed' || status === 'paid') return status;
  return isExpired(status) ? 'partially_paid_expired' : 'partially_paid';
};

const capture = (order: ExistingOrder, at: string): OrderEvent[] => {
  if (order.status === 'canceled') throw new AppError('order_state_conflict', 'a canceled order takes no payments');
  if (order.status === 'initialized')
    throw new AppError('order_state_conflict', 'the order still waits for its instructions: try again');
  const due = order.payments.filter(
    (payment) =>
      payment.currency === order.currency &&
      (payment.status === 'received' ||
        (payment.status === 'orphan' && payment.orphanReason === 'late' && payment.refundedMinor === 0n)),
  );
  return due.length > 0 ? apply(order, due, 'captured', at) : [];
};

const failPayment = (
  { payment, failureReason, at: now }: Extract<OrderCommand, { type: 'FailPayment' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  const at = now.toISOString();
  const { paymentId } = payment;
  const known = order.payments.find((candidate) => candidate.paymentId === paymentId);
  if (known && known.status !== 'received' && known.status !== 'applied') return [];
  // News of the failure may overtake news of the payment.
  const notice: OrderEvent[] = known ? [] : [{ type: 'OrderPaymentReceived', data: { payment, confirmed: false, at } }];
  return [
    ...notice,
    { type: 'OrderPaymentFailed', data: { paymentId, failureReason, ...without(order, known, 'payment_failed'), at } },
  ];
};

const refundPayment = (
  { paymentId, refundId, refundedTotalMinor, at: now }: Extract<OrderCommand, { type: 'RefundPayment' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  const payment = order.payments.find((candidate) => candidate.paymentId === paymentId);
  if (!payment || refundedTotalMinor <= payment.refundedMinor) return [];
  const whole = refundedTotalMinor >= payment.amountMinor;
  const transition = whole
    ? without(order, payment, 'payment_refunded')
    : { status: order.status, reason: order.statusReason };
  return [
    {
      type: 'OrderPaymentRefunded',
      data: {
        paymentId,
        refundId,
        refundedTotalMinor: String(refundedTotalMinor),
        ...transition,
        at: now.toISOString(),
      },
    },
  ];
};

/** The status of the order once `payment` no longer counts. */
const without = (
  order: ExistingOrder,
  payment: PaymentState | undefined,
  reason: string,
): { status: OrderStatus; reason: string } => {
  const left = appliedMinor(order) - (payment?.appliedMinor ?? 0n);
  if (order.status === 'paid' && left < order.totalMinor) return { status: 'reversed', reason };
  if (order.status === 'partially_paid' && left === 0n) return { status: 'awaiting_payment', reason };
  return { status: order.status, reason: order.statusReason };
};

// ---- the merchant's and the clock's doing ---------------------------------------------------------------------------

const cancel = (order: ExistingOrder, at: string): OrderEvent[] => {
  if (order.status === 'canceled') return [];
  if (!order.capabilities.can_cancel)
    throw new AppError('cancel_not_allowed', 'the order was created with can_cancel false');
  if (!isOpen(order)) throw new AppError('order_state_conflict', `an order that is ${order.status} cannot be canceled`);
  const orphanedPaymentIds = order.payments
    .filter((payment) => payment.status === 'applied' || (payment.status === 'received' && payment.confirmed))
    .map(({ paymentId }) => paymentId);
  return [
    { type: 'OrderCanceled', data: { orphanedPaymentIds, status: 'canceled', reason: 'canceled_by_merchant', at } },
  ];
};

const update = (
  { metadata, expirationMinutes, at: now }: Extract<OrderCommand, { type: 'UpdateOrder' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  if (!order.capabilities.can_update)
    throw new AppError('update_not_allowed', 'the order was created with can_update false');
  if (expirationMinutes !== undefined && !isOpen(order))
    throw new AppError('order_state_conflict', `the deadline of an order that is ${order.status} cannot be moved`);
  const deadline = expirationMinutes !== undefined && {
    expirationMinutes,
    expiresAt: plusMinutes(now, expirationMinutes),
  };
  return [{ type: 'OrderUpdated', data: { ...(metadata && { metadata }), ...deadline, at: now.toISOString() } }];
};

const renew = (
  { rates, pricedMinor, at: now }: Extract<OrderCommand, { type: 'RenewOrder' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  const at = now.toISOString();
  if (!renews(order) || heldOpen(order, now) || at < order.expiresAt) return [];
  // What was applied keeps its value: only the part of the order that it did not cover is priced anew.
  const applied = appliedMinor(order);
  const open = (pricedMinor * (order.totalMinor - applied) + order.totalMinor - 1n) / order.totalMinor;
  const expiresAt = plusMinutes(now, order.expirationMinutes);
  return [
    {
      type: 'OrderRenewed',
      data: { rates, totalMinor: String(applied + open), expiresAt, renewal: order.renewals + 1, at },
    },
  ];
};

const expired = (order: ExistingOrder, at: string): OrderEvent => ({
  type: 'OrderExpired',
  data: {
    orphanedPaymentIds: order.payments
      .filter((payment) => payment.status === 'received' && payment.confirmed)
      .map(({ paymentId }) => paymentId),
    status: appliedMinor(order) > 0n ? 'partially_paid_expired' : 'expired',
    reason: 'deadline_passed',
    at,
  },
});

const remove = (order: ExistingOrder, at: string): OrderEvent[] => {
  const unsettled = order.payments.some(
    (payment) =>
      payment.status === 'received' || (payment.status === 'orphan' && payment.refundedMinor < payment.amountMinor),
  );
  if (order.status === 'partially_paid' || unsettled) {
    throw new AppError(
      'order_has_unsettled_funds',
      'the order holds money that is neither settled nor refunded: capture, cancel or refund it first',
    );
  }
  return [{ type: 'OrderDeleted', data: { reason: 'deleted_by_merchant', at } }];
};

const plusMinutes = (from: Date, minutes: number): string => new Date(from.getTime() + minutes * 60_000).toISOString();

/** `events`, then what follows from the state after them. */
const then = (
  order: ExistingOrder,
  events: OrderEvent[],
  next: (after: ExistingOrder) => OrderEvent[],
): OrderEvent[] => {
  const after = fold({ evolve }, order as Order, events);
  return exists(after) ? [...events, ...next(after)] : events;
};

export const orderDecider: Decider<Order, OrderCommand, OrderEvent> = { initial: { status: 'none' }, decide, evolve };
