import { isDeepStrictEqual } from 'node:util';
import { fromMinor, type Order, type Payment, toMinor } from '@cpg/contracts';
import type { ExpectedPayment } from './scenarios.ts';
import type { Acknowledged } from './shoppers.ts';

/** Checks that exactly the acknowledged orders and payments are listed, each once and in the expected state. */
export const faultsOfLists = (
  acknowledged: readonly Acknowledged[],
  orders: readonly Order[],
  payments: readonly Payment[],
) => {
  const faults: string[] = [];
  const kept = acknowledged.filter(({ status }) => status !== null);
  const listed = new Map<string, Order[]>();
  for (const order of orders)
    listed.set(order.external_reference_id, [...(listed.get(order.external_reference_id) ?? []), order]);
  for (const { reference, orderId, scenario, status, payments: expected } of kept) {
    const found = listed.get(reference) ?? [];
    const [order] = found;
    if (found.length !== 1 || order!.id !== orderId) {
      faults.push(`${orderId} (${scenario}) is listed ${found.length} times`);
      continue;
    }
    if (order!.status !== status) faults.push(`${orderId} (${scenario}) is ${order!.status}, not ${status}`);
    const shown = new Map(order!.payments.map((payment) => [payment.tx_hash!, actualPayment(payment)]));
    if (!isDeepStrictEqual(shown, new Map([...expected].map(([hash, payment]) => [hash, withDefaults(payment)]))))
      faults.push(`${orderId} (${scenario}) has other payments: ${JSON.stringify([...shown.values()])}`);
  }
  if (orders.length !== kept.length)
    faults.push(`${orders.length} orders are listed, ${kept.length} were acknowledged`);

  const own = new Map(orders.flatMap((order) => order.payments).map((payment) => [payment.id, payment]));
  for (const payment of payments) {
    if (!isDeepStrictEqual(payment, own.get(payment.id)))
      faults.push(`${payment.id} differs from its order: ${JSON.stringify([payment, own.get(payment.id)])}`);
    const unaccounted = unaccountedMinor(payment);
    if (unaccounted !== 0n)
      faults.push(`${fromMinor(unaccounted, payment.currency)} of ${payment.id} are unaccounted for`);
  }
  if (payments.length !== own.size) faults.push(`${payments.length} payments are listed, the orders have ${own.size}`);
  return faults;
};

const actualPayment = (payment: Payment): Required<ExpectedPayment> => ({
  paid: Number(payment.paid_amount),
  status: payment.status,
  applied: Number(payment.applied_amount ?? 0),
  unapplied: Number(payment.unapplied_amount ?? 0),
  refunded: Number(payment.refunded_amount ?? 0),
});

const withDefaults = (payment: ExpectedPayment): Required<ExpectedPayment> => ({
  applied: 0,
  unapplied: 0,
  refunded: 0,
  ...payment,
});

/** The paid amount that is not accounted for: negative if some is counted twice. */
const unaccountedMinor = (payment: Payment): bigint => {
  const minor = (amount = '0') => toMinor(amount, payment.currency);
  const paid = minor(payment.paid_amount);
  if (minor(payment.fee_amount) + minor(payment.net_amount) !== paid) return paid;
  if (payment.status !== 'applied') return 0n; // The status covers the whole amount.
  return paid - minor(payment.applied_amount) - minor(payment.unapplied_amount) - minor(payment.refunded_amount);
};
