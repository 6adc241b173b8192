import {
  type DomainMessage,
  HistoryOrders,
  type HistoryOrdersQuery,
  type HistoryPage,
  type HistoryQuery,
  isTemporary,
  mergeHistory,
  OrderHistory,
  PaymentHistory,
} from '@cpg/contracts';
import { type CallContext, type InternalClient, newContext } from '@cpg/platform';
import { passes, type RenderedEvent, renderMessage } from '../delivery/render.ts';
import { type ClaimedReplay, cursorOf, type ReplayProgress, type ReplayRow } from './replay-table.ts';

/** Past events, read from the services that own the streams. A `place` is a cursor: pass it as `after` to read on. */
export interface History {
  /** Orders that may have events in the range, oldest first. */
  readonly ordersOf: (merchantId: string, query: HistoryOrdersQuery) => Promise<HistoryOrders>;
  readonly ofOrder: (orderId: string, query: HistoryQuery) => Promise<OrderHistory>;
  /** Events of all payments of an order. */
  readonly ofPayments: (orderId: string, query: HistoryQuery) => Promise<PaymentHistory>;
}

/** Shorter than the time a stopping dispatcher has. The replay itself retries, so a call does not. */
const CALL_OPTIONS = { timeoutMs: 4_000, connectRetryMs: 0 };

export const historyClient = ({ orders, payments }: Record<'orders' | 'payments', InternalClient>): History => ({
  ordersOf: (merchantId, query) =>
    orders.call('GET', `/merchants/${merchantId}/orders`, { ...call(), query, response: HistoryOrders }),
  ofOrder: (orderId, query) =>
    orders.call('GET', `/orders/${orderId}/messages`, { ...call(), query, response: OrderHistory }),
  ofPayments: (orderId, query) =>
    payments.call('GET', `/orders/${orderId}/messages`, { ...call(), query, response: PaymentHistory }),
});

const call = (): typeof CALL_OPTIONS & { context: CallContext } => ({
  ...CALL_OPTIONS,
  context: newContext('service:webhook-dispatcher'),
});

export interface ReplayBatch extends ReplayProgress {
  /** The events of each order in the order in which they happened. */
  readonly events: RenderedEvent[];
  readonly isLast: boolean;
}

/** After this many failed steps in a row, the first order of a batch is deferred. */
const FAILURES_TO_DEFER = 3;

/** Loads the next batch of a replay: all events of some orders, or one page of the events of an order that has many.
 *  An order whose events cannot be read, although no service is unavailable, is deferred until all others are queued.
 *  Deferred orders are read one per batch, until none is left or the replay is canceled. A deleted order has no events.
 *  Rejects if the first order cannot be read yet, and once `signal` aborts. */
export const loadReplayBatch = async (
  history: History,
  replay: ReplayRow & Pick<ClaimedReplay, 'filter'>,
  maxOrders: number,
  signal: AbortSignal,
): Promise<ReplayBatch> => {
  const { merchant_id: merchantId, event_types: types, filter } = replay;
  const { afterOrder, within } = cursorOf(replay);
  const range = { from: sinceEpoch(replay.from_at), to: sinceEpoch(replay.to_at) };
  const { orders, next } = await history.ordersOf(merchantId, {
    ...range,
    after: afterOrder ?? undefined,
    limit: within === null ? maxOrders : 1,
  });
  signal.throwIfAborted();
  const [retried, ...others] = replay.deferred;
  const isRetry = orders.length === 0 && retried !== undefined;
  const read = isRetry ? [{ id: retried, place: afterOrder }] : orders;
  const histories = await Promise.allSettled(
    read.map(({ id }) =>
      loadOrderHistory(history, id, { ...range, after: id === within?.id ? within.afterEvent : undefined }, types),
    ),
  );

  signal.throwIfAborted();
  const events: RenderedEvent[] = [];
  let deferred: readonly string[] = isRetry ? others : replay.deferred;
  let finished = afterOrder;
  for (const [index, result] of histories.entries()) {
    const { id, place } = read[index]!;
    if (result.status === 'rejected') {
      // The next batch begins with it, so that its failures are counted.
      if (index > 0) return { events, cursor: { afterOrder: finished, within: null }, deferred, isLast: false };
      if (replay.failures < FAILURES_TO_DEFER || isTemporary(result.reason)) throw result.reason;
      deferred = [...deferred, id];
      finished = place;
      continue;
    }
    const { messages, more } = result.value;
    const rendered = messages.flatMap(({ message }) => renderMessage(message));
    events.push(
      ...rendered.filter(
        (event) => event.merchantId === merchantId && types.includes(event.type) && passes(filter, event),
      ),
    );
    if (more) {
      const cursor = { afterOrder: finished, within: { id, afterEvent: messages.at(-1)!.place } };
      return { events, cursor, deferred: isRetry ? replay.deferred : deferred, isLast: false };
    }
    finished = place;
  }
  const cursor = { afterOrder: next ?? finished, within: null };
  return { events, cursor, deferred, isLast: next === null && deferred.length === 0 };
};

/** No event is older than 1970, and PostgreSQL writes years before 1 in another form than ISO 8601. */
const sinceEpoch = (at: Date): string => new Date(Math.max(0, at.getTime())).toISOString();

/** One page of the events of an order and its payments, up to where the pages of both services end. */
const loadOrderHistory = async (
  history: History,
  orderId: string,
  query: Parameters<History['ofOrder']>[1],
  types: readonly string[],
): Promise<HistoryPage<DomainMessage>> => {
  const wants = (kind: string) => types.some((type) => type.startsWith(kind));
  const pages: HistoryPage<DomainMessage>[] = await Promise.all([
    ...(wants('order:') ? [history.ofOrder(orderId, query)] : []),
    ...(wants('payment:') ? [history.ofPayments(orderId, query)] : []),
  ]);
  return mergeHistory(pages);
};
