import { fromMinor, type Order, type OrderEvent, type OrderStatus, type PaymentStatus } from '@cpg/contracts';

/** An order as computed here from its events, independently of the services. The API must show the same. */
export interface Ledger {
  readonly status: OrderStatus;
  readonly total_amount: string;
  readonly remaining_amount: string;
  readonly payments: ReadonlyArray<{ readonly id: string; readonly status: PaymentStatus; readonly applied: string }>;
}

/** `countedMinor` counts for the order. Refunds reduce the uncounted rest first, then the counted part. */
interface Money {
  readonly status: PaymentStatus;
  readonly paidMinor: bigint;
  readonly countedMinor: bigint;
  readonly refundedMinor: bigint;
}

/** Computes the ledger from the events of one order, oldest first. Throws if the first one is not OrderCreated. */
export const ledgerFromEvents = (events: readonly OrderEvent[]): Ledger => {
  const [created] = events;
  if (created?.type !== 'OrderCreated') throw new Error('the first event is not OrderCreated');
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
    if (type === 'OrderPaymentReinstated') change([data.paymentId], { status: 'received' });
    if (type === 'OrderPaymentsApplied')
      for (const { paymentId, appliedMinor } of data.allocations)
        change([paymentId], { status: 'applied', countedMinor: BigInt(appliedMinor) });
    if (type === 'OrderPaymentRefunded') {
      const refundedMinor = BigInt(data.refundedTotalMinor);
      const whole = refundedMinor === payments.get(data.paymentId)!.paidMinor;
      const partly = data.appliedMinor !== undefined && { countedMinor: BigInt(data.appliedMinor) };
      change([data.paymentId], { refundedMinor, ...partly, ...(whole && { status: 'refunded', countedMinor: 0n }) });
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

/** The applied amount after refunds, which reduce the surplus first. */
const appliedMinor = ({ paidMinor, countedMinor, refundedMinor }: Money): bigint => {
  const remainingPaidMinor = paidMinor - refundedMinor;
  return countedMinor < remainingPaidMinor ? countedMinor : remainingPaidMinor;
};

/** The ledger of an order as the API shows it. */
export const ledgerFromApi = ({ status, total_amount, remaining_amount, currency, payments }: Order): Ledger => ({
  status,
  total_amount,
  remaining_amount,
  payments: payments.map((payment) => ({
    id: payment.id,
    status: payment.status,
    applied: payment.applied_amount ?? fromMinor(0n, currency),
  })),
});
