import {
  type Allocation,
  AppError,
  type OrderEvent,
  type OrderStatus,
  type OrphanReason,
  type PaymentState,
} from '@cpg/contracts';
import type { CommandOf } from './command.ts';
import {
  appliedMinor,
  type ExistingOrder,
  hasLostPayment,
  isAtLockedRates,
  isExpired,
  isHeld,
  isOfItsCurrency,
  isOpen,
  isSettledWith,
  isExcess,
  remainingMinor,
  settlementBy,
  sightingsOf,
  smallestPayableMinor,
  spareMinor,
  uncoveredMinor,
} from './state.ts';
import { isBeforeOrder, unfitReason } from './unfit-money.ts';

/** Applies the held payments if together they settle the order, or if the open order takes partial payments. Payments
 *  that were seen after the deadline stay held until the order has new rates. For an order that lost a payment, excess
 *  counts too: it may be the same money, which its chain shows under another id. Without such payments too, a new price
 *  can leave a rest that needs no payment. */
export const applyHeldPayments = (order: ExistingOrder, at: string): OrderEvent[] => {
  if (order.status === 'initialized') return [];
  const held = order.payments.filter((payment) => isHeld(payment) && isAtLockedRates(order, payment));
  const needed = [...held, ...excessFor(order, held)];
  if (isSettledWith(order, sumOf(order, needed))) return applyPayments(order, needed, 'payment_settled', at);
  return order.capabilities.partial_payments && isOpen(order) ? applyPayments(order, held, 'partial_payment', at) : [];
};

const sumOf = (order: ExistingOrder, payments: readonly PaymentState[]): bigint =>
  payments.reduce((total, payment) => total + spareMinor(order, payment), 0n);

/** Excess of an order that lost a payment, oldest first, until it makes up what is missing beside `held`, or all of it
 *  if that is too little. */
const excessFor = (order: ExistingOrder, held: readonly PaymentState[]): PaymentState[] => {
  const missingMinor = remainingMinor(order) - sumOf(order, held);
  if (!hasLostPayment(order)) return [];
  const found: PaymentState[] = [];
  for (const payment of order.payments.filter((each) => isExcess(order, each)))
    if (sumOf(order, found) < missingMinor) found.push(payment);
  return found;
};

const settledReason = (settlement: ReturnType<typeof settlementBy>, reason: string): string => {
  if (settlement === 'accepted') return ACCEPTED;
  return settlement === 'tolerated' ? 'settled_within_tolerance' : reason;
};

const ACCEPTED = 'accepted_by_merchant';

/** Applies every pending payment, every orphan of the order's currency and all excess, except money from before the
 *  order. Of an orphan that was refunded in part, the rest counts. A payment that its chain shows in no block stays as
 *  it is: anybody may still replace it. So does a payment of which a refund waits for its transfer: the merchant has
 *  decided to pay it back. */
export const capture = (
  { openRefunds = {}, at: now }: CommandOf<'CapturePayments'>,
  order: ExistingOrder,
): OrderEvent[] => {
  refuseCanceled(order);
  if (order.status === 'initialized')
    throw new AppError('order_state_conflict', 'the order has no deposit instructions yet: try again');
  if (order.status === 'paid') return [];
  const capturable = order.payments.filter((payment) => canBeCaptured(order, payment));
  const captured = capturable.filter(({ paymentId }) => openRefunds[paymentId] === undefined);
  if (captured.length === 0 && capturable.length > 0) {
    const { paymentId } = capturable[0]!;
    throw new AppError(
      'order_state_conflict',
      `refund ${openRefunds[paymentId]} pays payment ${paymentId} back: to capture the payment, cancel the refund while it is pending`,
    );
  }
  return applyPayments(order, captured, 'captured', now.toISOString());
};

/** Settles the order with what is applied, by the word of the merchant. Later money that fits into the missing part is
 *  applied. */
export const accept = ({ because, at: now }: CommandOf<'AcceptOrder'>, order: ExistingOrder): OrderEvent[] => {
  if (order.status === 'paid') return [];
  refuseCanceled(order);
  if (appliedMinor(order) === 0n)
    throw new AppError(
      'order_state_conflict',
      order.payments.some((payment) => canBeCaptured(order, payment))
        ? 'no payment is applied to the order yet: capture its payments first'
        : 'no payment is applied to the order, so there is nothing to accept: cancel it, or let it expire',
    );
  const at = now.toISOString();
  const shortfallMinor = String(uncoveredMinor(order));
  const settled = { status: 'paid', reason: ACCEPTED, at } as const;
  const accepted: OrderEvent = {
    type: 'OrderAccepted',
    data: { shortfallMinor, acceptedBecause: because, ...settled },
  };
  const paid: OrderEvent = { type: 'OrderPaid', data: { reason: settled.reason, at } };
  return [accepted, paid, ...orphan(order, order.payments.filter(isHeld), 'already_paid', at)];
};

const refuseCanceled = ({ status }: ExistingOrder): void => {
  if (status === 'canceled')
    throw new AppError('order_state_conflict', 'a canceled order takes no payments: refund those that it has');
};

/** Makes payments orphans, if there are any. */
export const orphan = (
  order: ExistingOrder,
  payments: readonly PaymentState[],
  orphanReason: OrphanReason,
  at: string,
): OrderEvent[] => {
  const paymentIds = payments.map(({ paymentId }) => paymentId);
  if (paymentIds.length === 0) return [];
  const data = { paymentIds, orphanReason, ...sightingsOf(order, paymentIds), at };
  return [{ type: 'OrderPaymentsOrphaned', data }];
};

/** Makes orphans of those payments that can never apply by themselves, each with its reason. */
export const orphanUnfit = (order: ExistingOrder, payments: readonly PaymentState[], at: string): OrderEvent[] =>
  payments.flatMap((payment) => {
    const reason = unfitReason(order, payment);
    return reason === null ? [] : orphan(order, [payment], reason, at);
  });

/** Whether a capture applies the payment, as far as the order needs it. */
export const canBeCaptured = (order: ExistingOrder, payment: PaymentState): boolean =>
  order.status !== 'canceled' &&
  order.status !== 'initialized' &&
  order.status !== 'paid' &&
  (['received', 'orphan'].includes(payment.status) || isExcess(order, payment)) &&
  isOfItsCurrency(order, payment) &&
  !isBeforeOrder(order, payment) &&
  !isUnmined(payment);

/** Rails that count no confirmations, for example of the sandbox, do not say so. */
const isUnmined = ({ block, confirmations }: PaymentState): boolean => !block && confirmations === 0;

/** Applies these payments, oldest first. Payments for which nothing remains become orphans: once the order is paid,
 *  also those that were seen after its deadline and held. */
export const applyPayments = (
  order: ExistingOrder,
  payments: readonly PaymentState[],
  cause: string,
  at: string,
): OrderEvent[] => {
  const { allocations, excess, addedMinor } = allocate(uncoveredMinor(order), payments, {
    canOverpay: order.capabilities.can_overpay,
    spareMinor: (payment) => spareMinor(order, payment),
  });
  const settlement = settlementBy(order, appliedMinor(order) + addedMinor);
  const status = settlement === null ? partlyPaidStatus(order) : 'paid';
  const becomesPaid = status === 'paid' && order.status !== 'paid';
  const reason = settledReason(settlement, cause);
  const shortfallMinor = settlement === null ? 0n : uncoveredMinor(order) - addedMinor;
  const events: OrderEvent[] = [];
  if (allocations.length > 0 || becomesPaid)
    events.push({
      type: 'OrderPaymentsApplied',
      data: {
        allocations: allocations.map((each) => recordedAllocation(order, each)),
        ...(shortfallMinor > 0n && { shortfallMinor: String(shortfallMinor) }),
        ...sightingsOf(
          order,
          allocations.map(({ paymentId }) => paymentId),
        ),
        status,
        reason,
        at,
      },
    });
  if (becomesPaid) events.push({ type: 'OrderPaid', data: { reason, at } });
  // An orphan stays one, with its reason: a capture may apply it when the order needs it again.
  const considered = new Set(payments.map(({ paymentId }) => paymentId));
  const heldElse = becomesPaid ? order.payments.filter((each) => isHeld(each) && !considered.has(each.paymentId)) : [];
  const unneeded = [...excess.filter((payment) => payment.status === 'received'), ...heldElse];
  const fitting = unneeded.filter((payment) => unfitReason(order, payment) === null);
  return [...events, ...orphanUnfit(order, unneeded, at), ...orphan(order, fitting, 'already_paid', at)];
};

interface Allocated {
  readonly paymentId: string;
  /** All that now counts of the payment, with what counted before. */
  readonly appliedMinor: bigint;
  /** The rest of the payment, with the part that was refunded before. */
  readonly unappliedMinor: bigint;
}

/** Allocates payments to the remaining amount, in the given sequence. With `canOverpay` every payment is applied in
 *  full. Otherwise the part of a payment that exceeds the remaining amount is unapplied, and a payment for which
 *  nothing remains is in `excess`. `spareMinor` is the part of a payment that may count and does not yet. Amounts in
 *  minor units. */
const allocate = <P extends Pick<PaymentState, 'paymentId' | 'amountMinor' | 'appliedMinor'>>(
  remainingMinor: bigint,
  payments: readonly P[],
  { canOverpay, spareMinor }: { canOverpay: boolean; spareMinor: (payment: P) => bigint },
): { allocations: Allocated[]; excess: P[]; addedMinor: bigint } => {
  const allocations: Allocated[] = [];
  const excess: P[] = [];
  let addedMinor = 0n;
  for (const payment of payments) {
    const { paymentId, amountMinor } = payment;
    const spare = spareMinor(payment);
    const left = remainingMinor > addedMinor ? remainingMinor - addedMinor : 0n;
    const added = canOverpay || spare < left ? spare : left;
    if (added === 0n) {
      excess.push(payment);
      continue;
    }
    const appliedMinor = payment.appliedMinor + added;
    allocations.push({ paymentId, appliedMinor, unappliedMinor: amountMinor - appliedMinor });
    addedMinor += added;
  }
  return { allocations, excess, addedMinor };
};

const recordedAllocation = (
  order: ExistingOrder,
  { paymentId, appliedMinor, unappliedMinor }: Allocated,
): Allocation => {
  const smallest = smallestPayableMinor(order);
  return {
    paymentId,
    appliedMinor: String(appliedMinor),
    unappliedMinor: String(unappliedMinor),
    ...(unappliedMinor > 0n && smallest > 1n && { smallestPayableMinor: String(smallest) }),
  };
};

const partlyPaidStatus = (order: ExistingOrder): OrderStatus => {
  if (order.status === 'reversed' || order.status === 'paid') return order.status;
  return isExpired(order) ? 'partially_paid_expired' : 'partially_paid';
};
