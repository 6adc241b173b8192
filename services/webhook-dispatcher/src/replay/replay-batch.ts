import { type DomainMessage, type HistoryPage, isTemporary, mergeHistory } from '@cpg/contracts';
import type { History } from './history-client.ts';
import type { ReplayProgress, ReplayRow } from './replay-rows.ts';
import { type RenderedEvent, renderMessage } from '../delivery/render.ts';

export interface ReplayBatch extends ReplayProgress {
  /** The events of each order in the order in which they happened. */
  readonly events: RenderedEvent[];
  readonly isLast: boolean;
}

/** Failed steps after which an order is deferred. */
const FAILURES_TO_DEFER = 3;

/** Loads the next batch of a replay: all events of some orders, or one page of the events of an order that has many.
 *  An order whose events cannot be read, although no service is unavailable, is deferred until all others are queued.
 *  Rejects once `signal` aborts. */
export const loadReplayBatch = async (
  history: History,
  replay: ReplayRow,
  maxOrders: number,
  signal: AbortSignal,
): Promise<ReplayBatch> => {
  const { merchant_id: merchantId, event_types: types, reached_order, order_id, order_place } = replay;
  const range = { from: sinceEpoch(replay.from_at), to: sinceEpoch(replay.to_at) };
  const { orders, next } = await history.ordersOf(merchantId, {
    ...range,
    after: reached_order ?? undefined,
    limit: order_id === null ? maxOrders : 1,
  });
  signal.throwIfAborted();
  const [retried, ...others] = replay.deferred;
  const isRetry = orders.length === 0 && retried !== undefined;
  const read = isRetry ? [{ id: retried, place: reached_order }] : orders;
  const histories = await Promise.allSettled(
    read.map(({ id }) =>
      loadOrderHistory(
        history,
        id,
        { ...range, after: id === order_id ? (order_place ?? undefined) : undefined },
        types,
      ),
    ),
  );

  signal.throwIfAborted();
  const events: RenderedEvent[] = [];
  let deferred: readonly string[] = isRetry ? others : replay.deferred;
  let finishedOrder = reached_order;
  for (const [index, result] of histories.entries()) {
    const { id, place } = read[index]!;
    if (result.status === 'rejected') {
      // The next batch begins with it, so that its failures are counted.
      if (index > 0) return { events, cursor: { order: finishedOrder, within: null }, deferred, isLast: false };
      if (replay.failures < FAILURES_TO_DEFER || isTemporary(result.reason)) throw result.reason;
      deferred = [...deferred, id];
      finishedOrder = place;
      continue;
    }
    const { messages, more } = result.value;
    const rendered = messages.flatMap(({ message }) => renderMessage(message));
    events.push(...rendered.filter((event) => event.merchantId === merchantId && types.includes(event.type)));
    if (more) {
      const cursor = { order: finishedOrder, within: { id, place: messages.at(-1)!.place } };
      return { events, cursor, deferred: isRetry ? replay.deferred : deferred, isLast: false };
    }
    finishedOrder = place;
  }
  const cursor = { order: next ?? finishedOrder, within: null };
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
