import {
  divideUp,
  laterOf,
  type OrderEvent,
  type OrphanReason,
  paymentAfter,
  paymentBreakdown,
  type PaymentState,
} from '@cpg/contracts';
import { appliedMinor, countedMinor, type ExistingOrder, findPayment, isOpen } from './state.ts';

// Each function returns the order after an event about its payments.

type EventData<T extends OrderEvent['type']> = Extract<OrderEvent, { type: T }>['data'];

export const withReceived = (
  order: ExistingOrder,
  { payment, confirmed }: EventData<'OrderPaymentReceived'>,
): ExistingOrder => {
  const { paymentId, rail, providerId, currency, decimals, txHash, confirmations, metadata, seenAt, receivedAt } =
    payment;
  const { asset, assetLabel, credited } = payment;
  const { sighting, block, blockChanges, reinstatedAt = receivedAt, blockChangedAt = reinstatedAt } = payment;
  const confirmedAt = confirmed ? (payment.confirmedAt ?? reinstatedAt) : undefined;
  const received: PaymentState = {
    paymentId,
    merchantId: order.merchantId,
    orderId: order.orderId,
    rail,
    providerId,
    currency,
    decimals,
    ...(asset !== undefined && { asset }),
    ...(assetLabel !== undefined && { assetLabel }),
    ...(credited !== undefined && { credited }),
    amountMinor: BigInt(payment.amountMinor),
    feeMinor: BigInt(payment.feeMinor),
    appliedMinor: 0n,
    unappliedMinor: 0n,
    refundedMinor: 0n,
    status: 'received',
    confirmedAt,
    txHash,
    confirmations,
    ...(block && { block }),
    ...(blockChanges !== undefined && { blockChanges }),
    metadata,
    seenAt,
    ...(sighting !== undefined && { sighting }),
    createdAt: receivedAt,
    updatedAt: [blockChangedAt, confirmedAt ?? reinstatedAt].reduce(laterOf, reinstatedAt),
  };
  return { ...order, payments: [...order.payments, received] };
};

export const withConfirmed = (
  order: ExistingOrder,
  { paymentId, confirmations, at, confirmedAt = at }: EventData<'OrderPaymentConfirmed'>,
): ExistingOrder =>
  changePayments(order, [paymentId], (payment) =>
    paymentAfter(payment, { type: 'PaymentConfirmed', data: { confirmations, at: confirmedAt } }),
  );

export const withBlockChanged = (
  order: ExistingOrder,
  { paymentId, changedAt: at, ...data }: EventData<'OrderPaymentBlockChanged'>,
): ExistingOrder =>
  changePayments(order, [paymentId], (payment) =>
    paymentAfter(payment, { type: 'PaymentBlockChanged', data: { ...data, at } }),
  );

export const withApplied = (
  order: ExistingOrder,
  { allocations, at }: EventData<'OrderPaymentsApplied'>,
): ExistingOrder => {
  const allocationOf = new Map(allocations.map((allocation) => [allocation.paymentId, allocation]));
  const priced = Object.fromEntries(allocations.map(({ paymentId }) => [paymentId, order.pricedMinor]));
  return {
    ...order,
    pricedWhenApplied: { ...order.pricedWhenApplied, ...priced },
    payments: order.payments.map((payment) => {
      const allocation = allocationOf.get(payment.paymentId);
      if (!allocation) return payment;
      return paymentAfter(payment, { type: 'PaymentApplied', data: { ...allocation, at } });
    }),
  };
};

export const withOrphaned = (
  order: ExistingOrder,
  paymentIds: readonly string[],
  orphanReason: OrphanReason,
  at: string,
): ExistingOrder =>
  changePayments(order, paymentIds, (payment) =>
    paymentAfter(payment, { type: 'PaymentOrphaned', data: { orphanReason, at } }),
  );

/** The payment gets the `updated_at` that it has on its own stream, which records no later decision of the order. */
export const withFailed = (
  order: ExistingOrder,
  { paymentId, failureReason, sighting, failedAt }: EventData<'OrderPaymentFailed'>,
): ExistingOrder =>
  changePayments(withoutCounted(order, paymentId), [paymentId], (payment) => ({
    ...paymentAfter(payment, { type: 'PaymentFailed', data: { failureReason, at: failedAt } }),
    ...(sighting !== undefined && { sighting }),
    updatedAt: failedAt,
  }));

export const withReinstated = (
  order: ExistingOrder,
  { paymentId, reinstatedAt: at, ...data }: EventData<'OrderPaymentReinstated'>,
): ExistingOrder => {
  const confirmedAt = data.confirmed ? (data.confirmedAt ?? at) : undefined;
  return changePayments(order, [paymentId], (payment) => {
    const after = paymentAfter(payment, { type: 'PaymentReinstated', data: { ...data, at } });
    return { ...after, confirmedAt, updatedAt: laterOf(after.updatedAt, confirmedAt ?? at) };
  });
};

export const withRefunded = (order: ExistingOrder, data: EventData<'OrderPaymentRefunded'>): ExistingOrder => {
  const { paymentId, refundedTotalMinor } = data;
  const refundedMinor = BigInt(refundedTotalMinor);
  const refunded = findPayment(order, paymentId);
  if (!refunded) return order;
  if (data.orderRefundedTotalMinor !== undefined) return withPartOfOrder(order, refunded, data);
  if (refundedMinor < refunded.amountMinor) return withPartlyRefunded(order, refunded, data);
  const stays = data.appliedMinor === undefined ? countedMinor(order, refunded) : BigInt(data.appliedMinor);
  const counting = stays > 0n ? countingBeside(order, paymentId, stays) : withoutCounted(order, paymentId);
  return changePayments(counting, [paymentId], (payment) => refundedPayment(payment, data));
};

/** The payment after a refund. Refunded in full, it gets the times that it has on its own stream, which records no
 *  later decision of the order. */
const refundedPayment = (
  payment: PaymentState,
  { refundedTotalMinor, orderRefundedTotalMinor, refundedAt, appliedAt }: EventData<'OrderPaymentRefunded'>,
): PaymentState => {
  const data = { refundedTotalMinor, orderRefundedTotalMinor, at: refundedAt };
  const after = paymentAfter(payment, { type: 'PaymentRefunded', data });
  return after.status === 'refunded' ? { ...after, appliedAt, updatedAt: refundedAt } : after;
};

/** The order with this much of a payment that still counts beside the applied amount of the payment. */
const countingBeside = (order: ExistingOrder, paymentId: string, minor: bigint): ExistingOrder => ({
  ...order,
  countsBeside: { ...order.countsBeside, [paymentId]: minor },
});

/** After a part of a refund of the order. The payment keeps its shares, so that both services show the same payment;
 *  what counts for the order beside them is kept apart. Once all is refunded, nothing counts. */
const withPartOfOrder = (
  order: ExistingOrder,
  refunded: PaymentState,
  data: EventData<'OrderPaymentRefunded'>,
): ExistingOrder => {
  const { paymentId, refundedTotalMinor, appliedMinor: left } = data;
  const counted = countedMinor(order, refunded);
  const stays = left === undefined ? counted : BigInt(left);
  const changed = changePayments(withoutApplied(order, paymentId, counted - stays), [paymentId], (payment) =>
    refundedPayment(payment, data),
  );
  if (isRefunded(changed)) {
    const nothing = changed.payments.map((each): [string, bigint] => [each.paymentId, -each.appliedMinor]);
    return { ...changed, countsBeside: Object.fromEntries(nothing), refundedWhilePaid: {} };
  }
  const { [paymentId]: before = 0n } = order.refundedWhilePaid;
  const part = BigInt(refundedTotalMinor) - refunded.refundedMinor;
  const after = findPayment(changed, paymentId)!;
  return {
    ...countingBeside(changed, paymentId, stays - after.appliedMinor),
    refundedWhilePaid: { ...order.refundedWhilePaid, [paymentId]: before + part - (counted - stays) },
  };
};

/** Whether all that was applied to the order is refunded. */
export const isRefunded = ({ payments }: Pick<ExistingOrder, 'payments'>): boolean =>
  payments.every((payment) => paymentBreakdown(payment).applied === 0n);

const withPartlyRefunded = (
  order: ExistingOrder,
  refunded: PaymentState,
  data: EventData<'OrderPaymentRefunded'>,
): ExistingOrder => {
  const { paymentId, refundedTotalMinor, appliedMinor: left } = data;
  const refundedMinor = BigInt(refundedTotalMinor);
  const appliedLeft = left === undefined ? refunded.appliedMinor : BigInt(left);
  const takenMinor = refunded.appliedMinor - appliedLeft;
  const stillCountsMinor = refundedOfApplied(refunded, refundedMinor) - takenMinor;
  const { [paymentId]: before = 0n, ...others } = order.refundedWhilePaid;
  const priced = withoutApplied(order, paymentId, takenMinor);
  return changePayments(
    { ...priced, refundedWhilePaid: { ...others, [paymentId]: before + stillCountsMinor } },
    [paymentId],
    (payment) => ({
      ...refundedPayment(payment, data),
      appliedMinor: appliedLeft,
      unappliedMinor: payment.unappliedMinor + takenMinor,
    }),
  );
};

/** The part of a further refund that takes from the applied amount of the payment. The excess is refunded first. 0 for
 *  a payment that is not applied. */
export const refundedOfApplied = (payment: PaymentState, refundedTotalMinor: bigint): bigint => {
  if (payment.status !== 'applied') return 0n;
  const refundMinor = refundedTotalMinor - payment.refundedMinor;
  const { unapplied } = paymentBreakdown(payment);
  return refundMinor > unapplied ? refundMinor - unapplied : 0n;
};

/** Moves the deadline, the assignment and the times at which payments were seen into the past, as if that much time had
 *  passed. */
export const withTimeAdvanced = (
  order: ExistingOrder,
  { minutes, expiresAt, at }: EventData<'OrderTimeAdvanced'>,
): ExistingOrder => ({
  ...order,
  assignedAt: order.assignedAt && minutesBefore(order.assignedAt, minutes),
  payments: order.payments.map((payment) => ({ ...payment, seenAt: minutesBefore(payment.seenAt, minutes) })),
  expiresAt,
  advances: [...order.advances, { at, minutes }],
  changes: order.changes + 1,
});

/** The order after nothing of this payment counts any more. */
const withoutCounted = (order: ExistingOrder, paymentId: string): ExistingOrder => {
  const { [paymentId]: _, ...countsBeside } = order.countsBeside;
  return { ...withoutApplied(order, paymentId), countsBeside };
};

/** The order with its total after `value` of this payment, all of it by default, counts no more. In an open order, the
 *  part that it covered is priced again at the current rates. An order that is not open keeps its total. A reversed
 *  order can therefore be paid with the same amount again. */
const withoutApplied = (
  order: ExistingOrder,
  paymentId: string,
  value = countedOf(order, paymentId),
): ExistingOrder => {
  if (value === 0n || !isOpen(order)) return order;
  if (value === appliedMinor(order)) return { ...order, totalMinor: order.pricedMinor };
  const priced = divideUp(order.pricedMinor * value, order.pricedWhenApplied[paymentId]!);
  return { ...order, totalMinor: order.totalMinor - value + priced };
};

const countedOf = (order: ExistingOrder, paymentId: string): bigint => {
  const payment = findPayment(order, paymentId);
  return payment ? countedMinor(order, payment) : 0n;
};

const changePayments = (
  order: ExistingOrder,
  paymentIds: readonly string[],
  change: (payment: PaymentState) => PaymentState,
): ExistingOrder => ({
  ...order,
  payments: order.payments.map((payment) => (paymentIds.includes(payment.paymentId) ? change(payment) : payment)),
});

export const minutesBefore = (instant: string, minutes: number): string =>
  new Date(Date.parse(instant) - minutes * 60_000).toISOString();
