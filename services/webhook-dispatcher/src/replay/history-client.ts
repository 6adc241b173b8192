import {
  HistoryOrders,
  type HistoryOrdersQuery,
  type HistoryQuery,
  OrderHistory,
  PaymentHistory,
} from '@cpg/contracts';
import { type CallContext, type InternalClient, newContext } from '@cpg/platform';

/** Past events, read from the services that own the streams. */
export interface History {
  readonly ordersOf: (merchantId: string, query: HistoryOrdersQuery) => Promise<HistoryOrders>;
  readonly ofOrder: (orderId: string, query: HistoryQuery) => Promise<OrderHistory>;
  /** Events of all payments of an order. */
  readonly ofPayments: (orderId: string, query: HistoryQuery) => Promise<PaymentHistory>;
}

/** Shorter than the time a stopping dispatcher has. The replay itself retries, so a call does not. */
const OPTIONS = { timeoutMs: 4_000, connectRetryMs: 0 };

export const historyClient = ({ orders, payments }: Record<'orders' | 'payments', InternalClient>): History => ({
  ordersOf: (merchantId, query) =>
    orders.call('GET', `/merchants/${merchantId}/orders`, { ...call(), query, response: HistoryOrders }),
  ofOrder: (orderId, query) =>
    orders.call('GET', `/orders/${orderId}/messages`, { ...call(), query, response: OrderHistory }),
  ofPayments: (orderId, query) =>
    payments.call('GET', `/orders/${orderId}/messages`, { ...call(), query, response: PaymentHistory }),
});

const call = (): typeof OPTIONS & { context: CallContext } => ({
  ...OPTIONS,
  context: newContext('service:webhook-dispatcher'),
});
