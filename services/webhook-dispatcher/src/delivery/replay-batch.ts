import { type DomainMessage, type HistoryPage, mergeHistory } from '@cpg/contracts';
import type { History } from '../clients/history.ts';
import type { ReplayCursor, ReplayRow } from '../storage/replays.ts';
import { type RenderedEvent, renderMessage } from './render.ts';

export interface ReplayBatch {
  /** The events of each order in the order in which they happened. */
  readonly events: RenderedEvent[];
  /** Where the next batch starts. */
  readonly cursor: ReplayCursor;
  readonly isLast: boolean;
}

/** Loads the next batch of a replay: all events of some orders, or one page of the events of an order that has many.
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
  const histories = await Promise.all(
    orders.map(({ id }) =>
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
  let finishedOrder = reached_order;
  for (const [index, { messages, more }] of histories.entries()) {
    const { id, place } = orders[index]!;
    const rendered = messages.map(({ message }) => renderMessage(message)).filter((event) => event !== null);
    events.push(...rendered.filter((event) => event.merchantId === merchantId && types.includes(event.type)));
    if (more) {
      const cursor = { order: finishedOrder, within: { id, place: messages.at(-1)!.place } };
      return { events, cursor, isLast: false };
    }
    finishedOrder = place;
  }
  return { events, cursor: { order: next ?? finishedOrder, within: null }, isLast: next === null };
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
