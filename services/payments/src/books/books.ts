import {
  type OrderEvent,
  orderStreamOf,
  paymentBreakdown,
  type PaymentCurrency,
  type PaymentEvent,
  type PaymentState,
} from '@cpg/contracts';
import { ignoreUnknownEvent } from '@cpg/event-sourcing/decider';
import type { Recorded } from '@cpg/event-sourcing';
import { paymentStreamOf } from '../payment/identity.ts';
import { evolve, exists, type Payment } from '../payment/state.ts';

/** The values on which the streams of a payment and of its order must agree. Amounts are minor units. */
const FIELDS = [
  'orderId',
  'currency',
  'decimals',
  'status',
  'amountMinor',
  'appliedMinor',
  'unappliedMinor',
  'refundedMinor',
] as const;
type Field = (typeof FIELDS)[number];

/** A payment as one stream shows it. */
interface BookEntry {
  readonly values: Readonly<Record<Field, string>>;
  /** The event that last changed each value. */
  readonly changedBy: Readonly<Record<Field, number>>;
}

/** The payments of an order, by its own stream. */
export interface OrderBook {
  readonly orderId: string;
  readonly state: 'recorded' | 'deleted' | 'unknown';
  readonly entries: ReadonlyMap<string, BookEntry>;
}

/** A payment by its own stream. */
export type PaymentBook = BookEntry | 'deleted' | 'unknown';

/** `missing`: the order names a payment that has no stream. `unnamed`: a payment is applied to an order that does not
 *  name it. `order`: it is applied to another order. `unrecorded`: the order is deleted, and no record says so.
 *  `unreadable`: a stream has an event that this version cannot read. The others: both streams show it, and differ. */
export const DIFFERENCE_KINDS = [
  'missing',
  'unnamed',
  'order',
  'currency',
  'status',
  'amount',
  'refund',
  'unrecorded',
  'unreadable',
] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export interface Difference {
  readonly kind: DifferenceKind;
  readonly orderId: string;
  readonly paymentId: string;
  /** Names stream, event and field. */
  readonly text: string;
}

const KINDS: Readonly<Record<Field, DifferenceKind>> = {
  orderId: 'order',
  currency: 'currency',
  decimals: 'currency',
  status: 'status',
  amountMinor: 'amount',
  appliedMinor: 'amount',
  unappliedMinor: 'amount',
  refundedMinor: 'refund',
};

/** Compares some payments with their order, in both directions. */
export const compareBooks = (order: OrderBook, payments: ReadonlyMap<string, PaymentBook>): Difference[] =>
  [...payments].flatMap(([paymentId, payment]) => comparePayment(order, paymentId, payment));

const comparePayment = (order: OrderBook, paymentId: string, payment: PaymentBook): Difference[] => {
  const { orderId, state } = order;
  const [orderStream, paymentStream] = [orderStreamOf(orderId), paymentStreamOf(paymentId)];
  const difference = (kind: DifferenceKind, text: string): Difference => ({ kind, orderId, paymentId, text });
  const entry = order.entries.get(paymentId);
  if (state !== 'recorded' || !entry) {
    if (typeof payment === 'string') return [];
    const { values, changedBy } = payment;
    if (values.status !== 'applied' || values.orderId !== orderId) return [];
    const why =
      state === 'recorded' ? 'does not name the payment' : state === 'deleted' ? 'is deleted' : 'does not exist';
    return [
      difference(
        'unnamed',
        `${paymentStream}, event ${changedBy.status}: status is applied, but ${orderStream} ${why}`,
      ),
    ];
  }
  if (typeof payment === 'string') {
    const why = payment === 'deleted' ? 'is deleted' : 'does not exist';
    const { values, changedBy } = entry;
    return [
      difference(
        'missing',
        `${orderStream}, event ${changedBy.status}: status is ${values.status}, but ${paymentStream} ${why}`,
      ),
    ];
  }
  const differing = FIELDS.filter((field) => payment.values[field] !== entry.values[field]);
  return causesOf(differing).map((field) =>
    difference(
      KINDS[field],
      `${paymentStream}, event ${payment.changedBy[field]}: ${field} is ${payment.values[field]}, but ` +
        `${entry.values[field]} by ${orderStream}, event ${entry.changedBy[field]}`,
    ),
  );
};

/** Amounts also differ when the order or the status does: that is no difference of its own. */
const causesOf = (differing: readonly Field[]): Field[] => {
  if (differing.includes('orderId')) return ['orderId'];
  if (!differing.includes('status')) return [...differing];
  return differing.filter((field) => !['appliedMinor', 'unappliedMinor'].includes(field));
};

type Money = Pick<
  PaymentState,
  'status' | 'amountMinor' | 'appliedMinor' | 'unappliedMinor' | 'refundedMinor' | 'orderRefundedMinor'
> & {
  readonly currency: PaymentCurrency | null;
  readonly decimals: number | null;
};

/** The currency and the decimals of the money that an order takes. */
type Unit = Pick<Money, 'currency' | 'decimals'>;

const NOTHING_APPLIED = { appliedMinor: 0n, unappliedMinor: 0n };

/** Folds the events of an order; null for a tombstoned stream. Written apart from the rules of orders: a mistake in
 *  those shows as a difference. */
export const orderBookOf = (orderId: string, recorded: readonly Recorded<OrderEvent>[] | null): OrderBook => {
  const entries = new Map<string, BookEntry>();
  const none = { orderId, entries: new Map() };
  if (recorded === null) return { ...none, state: 'deleted' };
  const held = new Map<string, Money>();
  let unit: Unit = { currency: null, decimals: null };
  for (const { event, revision } of recorded) {
    if (event.type === 'OrderDeleted') return { ...none, state: 'deleted' };
    if (event.type === 'OrderCreated') unit = event.data;
    for (const [paymentId, money] of moneyChangedBy(event, held, unit)) {
      held.set(paymentId, money);
      entries.set(paymentId, nextEntry(entries.get(paymentId), { ...money, orderId }, revision));
    }
  }
  return { orderId, state: recorded.length > 0 ? 'recorded' : 'unknown', entries };
};

/** The payments of the order that an event changes, as they are after it. */
const moneyChangedBy = (
  event: OrderEvent,
  held: ReadonlyMap<string, Money>,
  { currency, decimals }: Unit,
): [paymentId: string, money: Money][] => {
  const change = (paymentIds: readonly string[], changed: (money: Money) => Money): [string, Money][] =>
    paymentIds.flatMap((paymentId) => {
      const money = held.get(paymentId);
      return money ? [[paymentId, changed(money)]] : [];
    });
  const without = (paymentIds: readonly string[], status: Money['status']) =>
    change(paymentIds, (money) => ({ ...money, status, ...NOTHING_APPLIED }));
  switch (event.type) {
    case 'OrderPaymentReceived': {
      const { paymentId, amountMinor, ...payment } = event.data.payment;
      const received = { status: 'received' as const, amountMinor: BigInt(amountMinor), refundedMinor: 0n };
      const { currency, decimals } = payment;
      return [[paymentId, { ...received, currency, decimals, ...NOTHING_APPLIED }]];
    }
    case 'OrderPaymentsApplied':
      return event.data.allocations.map((allocation) => {
        const { paymentId } = allocation;
        const [appliedMinor, unappliedMinor] = [BigInt(allocation.appliedMinor), BigInt(allocation.unappliedMinor)];
        const money = held.get(paymentId) ?? { amountMinor: appliedMinor + unappliedMinor, refundedMinor: 0n };
        // An order takes only money of its own currency and decimals.
        return [paymentId, { ...money, currency, decimals, status: 'applied', appliedMinor, unappliedMinor }];
      });
    case 'OrderPaymentsOrphaned':
      return without(event.data.paymentIds, 'orphan');
    case 'OrderExpired':
    case 'OrderCanceled':
      return without(event.data.orphanedPaymentIds, 'orphan');
    case 'OrderPaymentFailed':
      return without([event.data.paymentId], 'failed');
    case 'OrderPaymentReinstated':
      return without([event.data.paymentId], 'received');
    case 'OrderPaymentRefunded': {
      const { paymentId, refundedTotalMinor, orderRefundedTotalMinor: ofOrder, appliedMinor: left } = event.data;
      const refundedMinor = BigInt(refundedTotalMinor);
      return change([paymentId], (money) => {
        if (refundedMinor >= money.amountMinor)
          return { ...money, refundedMinor, status: 'refunded', ...NOTHING_APPLIED };
        // A part of a refund of the order leaves the shares of the payment.
        if (ofOrder !== undefined) return { ...money, refundedMinor, orderRefundedMinor: BigInt(ofOrder) };
        const appliedMinor = left === undefined ? money.appliedMinor : BigInt(left);
        const taken = money.appliedMinor - appliedMinor;
        return { ...money, refundedMinor, appliedMinor, unappliedMinor: money.unappliedMinor + taken };
      });
    }
    case 'OrderCreated':
    case 'OrderInstructed':
    case 'OrderPaymentConfirmed':
    case 'OrderPaymentBlockChanged':
    case 'OrderAccepted':
    case 'OrderRefunded':
    case 'OrderPaid':
    case 'OrderUpdated':
    case 'OrderRenewed':
    case 'OrderTimeAdvanced':
    case 'OrderDeleted':
      return [];
    default:
      return ignoreUnknownEvent(event, []);
  }
};

/** Folds the events of a payment; null for a tombstoned stream. */
export const paymentBookOf = (recorded: readonly Recorded<PaymentEvent>[] | null): PaymentBook => {
  if (recorded === null) return 'deleted';
  let payment: Payment = { status: 'none' };
  let appliedTo: string | null = null;
  let entry: BookEntry | undefined;
  for (const { event, revision } of recorded) {
    payment = evolve(payment, event);
    if (!exists(payment)) continue;
    if (event.type === 'PaymentApplied') appliedTo = event.data.orderId;
    const orderId: string = payment.status === 'applied' ? (appliedTo ?? payment.orderId) : payment.orderId;
    entry = nextEntry(entry, { ...payment, orderId }, revision);
  }
  return entry ?? 'unknown';
};

const nextEntry = (
  before: BookEntry | undefined,
  money: Money & { readonly orderId: string },
  revision: number,
): BookEntry => {
  const { applied, unapplied } = paymentBreakdown(money);
  // A breakdown takes the shares to add up to the amount, which a forged event need not respect.
  const excess = money.status === 'applied' ? money.appliedMinor + money.unappliedMinor - money.amountMinor : 0n;
  const values: Record<Field, string> = {
    orderId: money.orderId,
    currency: String(money.currency),
    decimals: String(money.decimals),
    status: money.status,
    amountMinor: String(money.amountMinor),
    appliedMinor: String(applied + excess),
    unappliedMinor: String(unapplied),
    refundedMinor: String(money.refundedMinor),
  };
  const changedBy = Object.fromEntries(
    FIELDS.map((field) => [field, before?.values[field] === values[field] ? before.changedBy[field] : revision]),
  ) as Record<Field, number>;
  return { values, changedBy };
};
