import {
  type AssignedDeposit,
  type AssignedInstruction,
  type Capabilities,
  dueBackMinor,
  type Item,
  type ItemCurrency,
  type OrderDetails,
  type OrderStatus,
  type PaymentCurrency,
  type PaymentRail,
  type PaymentState,
  type Rates,
  sightingOf,
} from '@cpg/contracts';

/** A refund of an order as folded from its event. Amounts are in minor units of the order. */
export interface OrderRefundState {
  readonly orderRefundId: string;
  readonly amountMinor: bigint;
  readonly requestedAmount?: string | undefined;
  readonly requestedCurrency?: ItemCurrency | undefined;
  readonly reason?: string | undefined;
  readonly parts: readonly {
    readonly refundId: string;
    readonly paymentId: string;
    readonly amountMinor: bigint;
  }[];
  readonly at: string;
}

/** The fields of an order in every status. */
interface OrderFacts extends Readonly<OrderDetails> {
  readonly statusReason: string;
  readonly orderId: string;
  readonly merchantId: string;
  readonly items: readonly Item[];
  readonly rails: readonly PaymentRail[];
  readonly currency: PaymentCurrency;
  /** Of the minor units of all its amounts. */
  readonly decimals: number;
  readonly capabilities: Capabilities;
  readonly rates: Rates;
  /** The amount due. A renewal sets it to the applied sum plus the new price of the part that is not covered yet. If a
   *  payment of an open order fails or is refunded, the part that it covered is priced at the current rates. */
  readonly totalMinor: bigint;
  /** The part of the total that may be missing, in hundredths of a percent. */
  readonly toleranceBps: number;
  /** What the merchant accepted to be missing of the total. */
  readonly acceptedShortfallMinor: bigint;
  /** The price of all items at the locked rates. */
  readonly pricedMinor: bigint;
  /** Per payment id: `pricedMinor` when the payment was applied. Needed to compute the part of the order that the
   *  payment covers after a renewal. */
  readonly pricedWhenApplied: Readonly<Record<string, bigint>>;
  /** Per payment id: the refunded part that still counts, because it was refunded while the order was paid. */
  readonly refundedWhilePaid: Readonly<Record<string, bigint>>;
  /** Per payment id: what counts for the order beside the applied amount of the payment, after refunds of the order.
   *  Above 0 for a payment that is refunded in full, below 0 where the refund took something out of the order. */
  readonly countsBeside: Readonly<Record<string, bigint>>;
  /** Oldest first. */
  readonly refunds: readonly OrderRefundState[];
  /** When the order got its instructions; unknown if the clock was in doubt. Advancing its clock moves this too, as it
   *  moves what rails saw before. */
  readonly assignedAt?: string | undefined;
  /** Oldest first. */
  readonly payments: readonly PaymentState[];
  readonly expirationMinutes: number;
  readonly expiresAt: string;
  /** Until when the rates are locked. Before the deadline only in an order that renews. */
  readonly ratesExpireAt: string;
  /** Sandbox only: when its clock was advanced, and how far. */
  readonly advances: readonly { readonly at: string; readonly minutes: number }[];
  readonly renewals: number;
  /** When the order last became paid. It stays when the order is reversed. */
  readonly paidAt?: string | undefined;
  /** Number of updates and time advances. `MAX_CHANGES` limits it. */
  readonly changes: number;
  readonly createdAt: string;
  /** The latest `at` of all events. The events of one command share it; no other command has the same. */
  readonly updatedAt: string;
}

/** Waits for its deposit instructions. It takes no payments. */
interface InitializedOrder extends OrderFacts {
  readonly status: 'initialized';
  readonly instructions: readonly [];
}

interface Instructed extends OrderFacts {
  /** Empty if the order ended before it got any. */
  readonly instructions: readonly AssignedInstruction[];
}

interface PayableOrder extends Instructed {
  readonly status: 'awaiting_payment' | 'partially_paid';
}

interface PaidOrder extends Instructed {
  readonly status: 'paid';
  readonly paidAt: string;
}

interface EndedOrder extends Instructed {
  readonly status: 'expired' | 'partially_paid_expired' | 'canceled' | 'reversed';
}

/** An order that waits for payments. It can be canceled. */
export type OpenOrder = InitializedOrder | PayableOrder;

export type ExistingOrder = OpenOrder | PaidOrder | EndedOrder;

export type Order =
  { readonly status: 'none' } | { readonly status: 'deleted'; readonly lastState: ExistingOrder } | ExistingOrder;

/** The order in a status, with what belongs to that status alone. */
export const inStatus = (
  order: ExistingOrder,
  { status, reason: statusReason, at }: { status: OrderStatus; reason: string; at: string },
): ExistingOrder => {
  const facts = { ...order, statusReason };
  switch (status) {
    case 'initialized':
      return { ...facts, status, instructions: [] };
    case 'paid':
      return { ...facts, status, paidAt: order.status === 'paid' ? order.paidAt : at };
    default:
      return { ...facts, status };
  }
};

export const MAX_RENEWALS = 24;
/** Limits on the number of events of one order. Every message contains the whole order, and loading an order reads
 *  its whole stream. Without limits, one large order would delay all others. */
export const MAX_PAYMENTS = 250;
export const MAX_CHANGES = 1_000;

export const exists = (order: Order): order is ExistingOrder => order.status !== 'none' && order.status !== 'deleted';

export const isOpen = (order: ExistingOrder): order is OpenOrder =>
  order.status === 'initialized' || order.status === 'awaiting_payment' || order.status === 'partially_paid';

/** Whether a new payment can apply by itself. A reversed order can be paid again. */
export const takesPayments = (order: ExistingOrder): boolean => isOpen(order) || order.status === 'reversed';

export const isExpired = ({ status }: ExistingOrder): boolean =>
  status === 'expired' || status === 'partially_paid_expired';

/** Whether the order has the maximum number of payments. It records a further payment only if that settles the order.
 *  The others become orphans with the reason `too_many_payments` once they are confirmed. */
export const isFull = ({ payments }: ExistingOrder): boolean => payments.length >= MAX_PAYMENTS;

export const findPayment = (order: ExistingOrder, paymentId: string): PaymentState | undefined =>
  order.payments.find((payment) => payment.paymentId === paymentId);

/** For an event that decides on these payments: the sightings of those that their rails have seen more than once. */
export const sightingsOf = (
  order: ExistingOrder,
  paymentIds: readonly string[],
): { sightings?: Record<string, number> } => {
  const again = order.payments.filter((payment) => sightingOf(payment) > 1 && paymentIds.includes(payment.paymentId));
  if (again.length === 0) return {};
  return { sightings: Object.fromEntries(again.map((payment) => [payment.paymentId, sightingOf(payment)])) };
};

/** Whether the money is of the order's currency, and no token that does not count as it. A token that the order itself
 *  shows counts, whatever became of it in the asset table. Money with other decimals never counts: its minor
 *  units cannot be added to those of the order. */
export const isOfItsCurrency = (order: ExistingOrder, { currency, decimals, credited, asset }: PaymentState): boolean =>
  currency === order.currency &&
  decimals === order.decimals &&
  (credited !== false || depositsOfOrder(order).some((deposit) => deposit.asset === asset));

/** Whether the payment is confirmed and still `received`: neither applied nor an orphan. */
export const isHeld = ({ status, confirmedAt }: PaymentState): boolean =>
  status === 'received' && confirmedAt !== undefined;

/** Whether a payment of the paid order failed, so that money which was too much may count now. */
export const hasLostPayment = ({ status, statusReason }: ExistingOrder): boolean =>
  status === 'reversed' && statusReason === 'payment_failed';

/** Whether the merchant refunded what had paid the order: nobody is asked to pay it again. */
export const isReturned = ({ status, statusReason }: ExistingOrder): boolean =>
  status === 'reversed' && statusReason === 'payment_refunded';

/** Whether money of the payment is left over only because the order was paid. The block of an orphan may have changed
 *  since: then it has to be confirmed again. */
export const isExcess = (order: ExistingOrder, payment: PaymentState): boolean => {
  const { status, orphanReason, confirmedAt } = payment;
  if (status === 'applied') return spareMinor(order, payment) > 0n;
  return status === 'orphan' && orphanReason === 'already_paid' && confirmedAt !== undefined;
};

/** When the order expires or renews: at its deadline, or when its rates end if it renews. */
export const dueAt = (order: ExistingOrder): string => {
  const { capabilities, expiresAt, ratesExpireAt } = order;
  const endsWithRates = isOpen(order) && capabilities.expiration_auto_renewal && ratesExpireAt < expiresAt;
  return endsWithRates ? ratesExpireAt : expiresAt;
};

/** Whether the payment may apply at the locked rates: its rail saw it before they ended. An order that is not open
 *  keeps its last rates. */
export const isAtLockedRates = (order: ExistingOrder, { seenAt }: PaymentState): boolean =>
  !isOpen(order) || seenAt <= dueAt(order);

/** The part of the payment that may count for the order: all of it, except refunds made while the order was not
 *  paid. */
export const applicableMinor = (order: ExistingOrder, payment: PaymentState): bigint =>
  payment.amountMinor - payment.refundedMinor + (order.refundedWhilePaid[payment.paymentId] ?? 0n);

/** The part of the payment that may count for the order and does not yet. */
export const spareMinor = (order: ExistingOrder, payment: PaymentState): bigint =>
  applicableMinor(order, payment) - countedMinor(order, payment);

/** What of the payment counts for the order. */
export const countedMinor = (
  { countsBeside }: Pick<ExistingOrder, 'countsBeside'>,
  { paymentId, appliedMinor: applied }: Pick<PaymentState, 'paymentId' | 'appliedMinor'>,
): bigint => applied + (countsBeside[paymentId] ?? 0n);

/** The sum of the applied amounts, in minor units of the order's currency. A partial refund reduces it unless the order
 *  was paid. Failed payments, and payments that a refund of their own took back in full, count as 0. */
export const appliedMinor = (order: ExistingOrder): bigint =>
  order.payments.reduce((sum, payment) => sum + countedMinor(order, payment), 0n);

/** The part of the total that the applied amounts do not cover, in minor units of the order's currency. */
export const uncoveredMinor = (order: ExistingOrder): bigint => {
  const uncovered = order.totalMinor - appliedMinor(order);
  return uncovered > 0n ? uncovered : 0n;
};

/** The part of the total that is still to be paid. A paid order needs nothing more. */
export const remainingMinor = (order: ExistingOrder): bigint => (order.status === 'paid' ? 0n : uncoveredMinor(order));

/** The missing amount of an order that was settled with less than its total. */
export const shortfallMinor = (order: ExistingOrder): bigint => (order.status === 'paid' ? uncoveredMinor(order) : 0n);

/** The addresses at which the order can be paid. */
export const depositsOfOrder = ({ instructions }: Pick<ExistingOrder, 'instructions'>): readonly AssignedDeposit[] =>
  instructions.flatMap((instruction) =>
    instruction.rail === 'crypto_deposit' ? [instruction] : (instruction.deposits ?? []),
  );

/** The smallest amount that can be paid at one of the addresses: one minor unit for an order without addresses. */
export const smallestPayableMinor = (order: Pick<ExistingOrder, 'instructions'>): bigint =>
  depositsOfOrder(order)
    .map(({ smallestPayableMinor: smallest = '1' }) => BigInt(smallest))
    .reduce<bigint | null>((least, each) => (least === null || each < least ? each : least), null) ?? 1n;

/** The part of the total that the merchant lets be missing. */
const toleratedMinor = ({ totalMinor, toleranceBps }: ExistingOrder): bigint =>
  (totalMinor * BigInt(toleranceBps)) / 10_000n;

/** How a sum of applied amounts settles the order. Null if it does not. `exact`: nothing is missing. `unpayable`: the
 *  rest is too small to send, and at least as much was paid. `tolerated`: the merchant lets the rest be missing.
 *  `accepted`: the merchant accepted that it is missing. Nothing at all settles no order: less than the total is
 *  tolerated or accepted. */
export const settlementBy = (
  order: ExistingOrder,
  sumMinor: bigint,
): 'exact' | 'unpayable' | 'tolerated' | 'accepted' | null => {
  const rest = order.totalMinor - sumMinor;
  if (rest <= 0n) return 'exact';
  if (rest < smallestPayableMinor(order) && rest <= sumMinor) return 'unpayable';
  if (rest <= toleratedMinor(order)) return 'tolerated';
  return rest <= order.acceptedShortfallMinor ? 'accepted' : null;
};

/** Whether `addedMinor` beside the applied amounts settles the order. */
export const isSettledWith = (order: ExistingOrder, addedMinor: bigint): boolean =>
  settlementBy(order, appliedMinor(order) + addedMinor) !== null;

/** The amount of the order's currency to give back. */
export const orderDueBackMinor = (order: ExistingOrder): bigint =>
  order.payments
    .filter((payment) => isOfItsCurrency(order, payment))
    .reduce((sum, payment) => sum + dueBackMinor(payment), 0n);
