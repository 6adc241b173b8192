import { type HistoryEntry, type HistoryPage, mergeHistory } from '@cpg/contracts';
import type { CallContext } from '@cpg/runtime';
import type { OrdersClient } from './clients/orders.ts';
import type { PaymentsClient } from './clients/payments.ts';

const ALWAYS = { from: '1970-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' };

export type ReadHistory = (
  orderId: string,
  after: string | undefined,
  context: CallContext,
) => Promise<HistoryPage<HistoryEntry>>;

/** What is recorded of an order and its payments, in the order in which it happened, a page of it. */
export const historyOf =
  ({
    orders,
    payments,
  }: Record<'orders', Pick<OrdersClient, 'history'>> &
    Record<'payments', Pick<PaymentsClient, 'history'>>): ReadHistory =>
  async (orderId, after, context) => {
    const query = { ...ALWAYS, after };
    const both = [orders, payments].map((service) => service.history(orderId, query, context));
    return mergeHistory(await Promise.all(both));
  };

/** Such an instant as ISO 8601 with milliseconds: nothing ever happened outside of these years, some of which ISO 8601 cannot write down. */
export const isoWithin = (instant: Date): string => {
  const [from, to] = [ALWAYS.from, ALWAYS.to].map((end) => Date.parse(end));
  return new Date(Math.max(from!, Math.min(to!, instant.getTime()))).toISOString();
};
