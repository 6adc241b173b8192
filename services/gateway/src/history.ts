import { type HistoryEntry, type HistoryPage, mergeHistory } from '@cpg/contracts';
import type { CallContext } from '@cpg/runtime';
import type { OrdersClient } from './clients/orders.ts';
import type { PaymentsClient } from './clients/payments.ts';

const ALL_TIME = { from: '1970-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' };

export type ReadHistory = (
  orderId: string,
  after: string | undefined,
  context: CallContext,
) => Promise<HistoryPage<HistoryEntry>>;

/** Reads one page of the recorded events of an order and its payments, oldest first. */
export const createHistoryReader =
  ({
    orders,
    payments,
  }: Record<'orders', Pick<OrdersClient, 'history'>> &
    Record<'payments', Pick<PaymentsClient, 'history'>>): ReadHistory =>
  async (orderId, after, context) => {
    const query = { ...ALL_TIME, after };
    const pages = [orders, payments].map((service) => service.history(orderId, query, context));
    return mergeHistory(await Promise.all(pages));
  };

/** The time as ISO 8601 with milliseconds, moved into the years 1970 to 9999: ISO 8601 cannot express all years, and no
 *  event is recorded outside these. */
export const clampedIsoString = (instant: Date): string => {
  const [from, to] = [ALL_TIME.from, ALL_TIME.to].map((end) => Date.parse(end));
  return new Date(Math.max(from!, Math.min(to!, instant.getTime()))).toISOString();
};
