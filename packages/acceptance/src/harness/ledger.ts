import { fromMinor, type Order, type OrderEvent, type OrderStatus, type PaymentStatus } from '@cpg/contracts';

/** What an order's events add up to, worked out here and not by the service: what the API shows must agree with it. */
export interface Ledger {
  readonly status: OrderStatus;
  readonly total_amount: string;
  readonly remaining_amount: string;
  readonly payments: ReadonlyArray<{ readonly id: string; readonly status: PaymentStatus; readonly applied: string }>;
}

/** `countedMinor` of it counts for the order; of the rest and of that, in this order, `refundedMinor` was given back. */
interface Money {
  readonly status: PaymentStatus;
  readonly paidMinor: bigint;
  readonly countedMinor: bigint;
  readonly refundedMinor: bigint;
}

/** Adds up the events of one order's stream, oldest first. Throws when the stream does not begin with its creation. */
export const ledgerOf = (events: readonly OrderEvent[]): Ledger => {
  const [created] = events;
  if (created?.type !== 'OrderCreated') throw new Error('the stream does not begin with the creation of the order');
  let status: OrderStatus = created.data.status;
  let totalMinor = BigInt(created.data.totalMinor);
  const payments = new Map<string, Money>();
  const change = (ids: readonly string[], changes: Partial<Money>) => {
    for (const id of ids) payments.set(id, { ...payments.get(id)!, ...changes });
  };

  for (const { type, data } of events) {
    if ('status' in data) status = data.status;
    if (type === 'OrderPaid') status = 'paid';
    if (type === 'OrderRenewed') totalMinor = BigInt(data.totalMinor);
    if (type === 'OrderPaymentReceived') {
      const { paymentId, amountMinor } = data.payment;
      const known = payments.get(paymentId);
      const paidMinor = BigInt(amountMinor);
      payments.set(paymentId, known ?? { status: 'received', paidMinor, countedMinor: 0n, refundedMinor: 0n });
    }
    if (type === 'OrderPaymentsOrphaned') change(data.paymentIds, { status: 'orphan', countedMinor: 0n });
    if (type === 'OrderExpired' || type === 'OrderCanceled')
      change(data.orphanedPaymentIds, { status: 'orphan', countedMinor: 0n });
    if (type === 'OrderPaymentFailed') change([data.paymentId], { status: 'failed', countedMinor: 0n });
    if (type === 'OrderPaymentsApplied')
      for (const { paymentId, appliedMinor } of data.allocations)
        change([paymentId], { status: 'applied', countedMinor: BigInt(appliedMinor) });
    if (type === 'OrderPaymentRefunded') {
      const refundedMinor = BigInt(data.refundedTotalMinor);
      const whole = refundedMinor === payments.get(data.paymentId)!.paidMinor;
      change([data.paymentId], { refundedMinor, ...(whole && { status: 'refunded', countedMinor: 0n }) });
    }
  }

  const countedMinor = [...payments.values()].reduce((sum, payment) => sum + payment.countedMinor, 0n);
  const remainingMinor = totalMinor > countedMinor ? totalMinor - countedMinor : 0n;
  const amount = (minor: bigint) => fromMinor(minor, created.data.currency);
  return {
    status,
    total_amount: amount(totalMinor),
    remaining_amount: amount(remainingMinor),
    payments: [...payments].map(([id, money]) => ({ id, status: money.status, applied: amount(appliedMinor(money)) })),
  };
};

/** What counts less what was given back of it: the surplus goes first. */
const appliedMinor = ({ paidMinor, countedMinor, refundedMinor }: Money): bigint => {
  const leftMinor = paidMinor - refundedMinor;
  return countedMinor < leftMinor ? countedMinor : leftMinor;
};

/** The same, as the API shows it. */
export const ledgerShown = ({ status, total_amount, remaining_amount, currency, payments }: Order): Ledger => ({
  status,
  total_amount,
  remaining_amount,
  payments: payments.map((payment) => ({
    id: payment.id,
    status: payment.status,
    applied: payment.applied_amount ?? fromMinor(0n, currency),
  })),
});
