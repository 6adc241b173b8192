import { fromMinor, type Order, type OrderEvent, type OrderStatus, type PaymentStatus } from '@cpg/contracts';

/** What an order's events add up to, worked out here and not by the service: what the API shows must agree with it. */
export interface Ledger {
  readonly status: OrderStatus;
  readonly total_amount: string;
  readonly remaining_amount: string;
  readonly payments: ReadonlyArray<{ readonly id: string; readonly status: PaymentStatus; readonly applied: string }>;
}

type Money = { status: PaymentStatus; appliedMinor: bigint };

/** Adds up the events of one order's stream, oldest first. Throws when the stream does not begin with its creation. */
export const ledgerOf = (events: readonly OrderEvent[]): Ledger => {
  const [created] = events;
  if (created?.type !== 'OrderCreated') throw new Error('the stream does not begin with the creation of the order');
  let status: OrderStatus = created.data.status;
  let totalMinor = BigInt(created.data.totalMinor);
  const payments = new Map<string, Money>();
  const become = (ids: readonly string[], next: PaymentStatus) => {
    for (const id of ids) payments.set(id, { status: next, appliedMinor: 0n });
  };

  for (const { type, data } of events) {
    if ('status' in data) status = data.status;
    if (type === 'OrderPaid') status = 'paid';
    if (type === 'OrderRenewed') totalMinor = BigInt(data.totalMinor);
    if (type === 'OrderPaymentReceived') become([data.payment.paymentId], 'received');
    if (type === 'OrderPaymentsOrphaned') become(data.paymentIds, 'orphan');
    if (type === 'OrderExpired' || type === 'OrderCanceled') become(data.orphanedPaymentIds, 'orphan');
    if (type === 'OrderPaymentFailed') become([data.paymentId], 'failed');
    if (type === 'OrderPaymentsApplied')
      for (const { paymentId, appliedMinor } of data.allocations)
        payments.set(paymentId, { status: 'applied', appliedMinor: BigInt(appliedMinor) });
  }

  const appliedMinor = [...payments.values()].reduce((sum, payment) => sum + payment.appliedMinor, 0n);
  const remainingMinor = totalMinor > appliedMinor ? totalMinor - appliedMinor : 0n;
  const amount = (minor: bigint) => fromMinor(minor, created.data.currency);
  return {
    status,
    total_amount: amount(totalMinor),
    remaining_amount: amount(remainingMinor),
    payments: [...payments].map(([id, money]) => ({ id, status: money.status, applied: amount(money.appliedMinor) })),
  };
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
