import { type DomainMessage, type HistoryPage, mergeHistory } from '@cpg/contracts';
import type { History } from '../clients/history.ts';
import type { Reached, ReplayRow } from '../storage/replays.ts';
import { type ToldEvent, tell } from './payload.ts';

export interface Recalled {
  /** Of each order in the order in which they happened. */
  readonly events: ToldEvent[];
  /** How far these come. */
  readonly reached: Reached;
  readonly isEnd: boolean;
}

/** What comes next in a replay: all of some orders, or a part of one in which a lot happened. Rejects once `signal` aborts. */
export const recall = async (
  history: History,
  replay: ReplayRow,
  ordersAtOnce: number,
  signal: AbortSignal,
): Promise<Recalled> => {
  const { merchant_id: merchantId, event_types: types, reached_order, order_id, order_place } = replay;
  const range = { from: sinceEpoch(replay.from_at), to: sinceEpoch(replay.to_at) };
  const { orders, next } = await history.ordersOf(merchantId, {
    ...range,
    after: reached_order ?? undefined,
    limit: order_id === null ? ordersAtOnce : 1,
  });
  signal.throwIfAborted();
  const chapters = await Promise.all(
    orders.map(({ id }) =>
      chapterOf(history, id, { ...range, after: id === order_id ? (order_place ?? undefined) : undefined }, types),
    ),
  );

  signal.throwIfAborted();
  const events: ToldEvent[] = [];
  let passed = reached_order;
  for (const [index, { messages, more }] of chapters.entries()) {
    const { id, place } = orders[index]!;
    const told = messages.map(({ message }) => tell(message)).filter((event) => event !== null);
    events.push(...told.filter((event) => event.merchantId === merchantId && types.includes(event.type)));
    if (more)
      return { events, reached: { order: passed, within: { id, place: messages.at(-1)!.place } }, isEnd: false };
    passed = place;
  }
  return { events, reached: { order: next ?? passed, within: null }, isEnd: next === null };
};

/** Nothing happened before. PostgreSQL writes years before the first in another way than ISO 8601. */
const sinceEpoch = (at: Date): string => new Date(Math.max(0, at.getTime())).toISOString();

/** What orders and payments tell of one order, merged as far as both have told. */
const chapterOf = async (
  history: History,
  orderId: string,
  query: Parameters<History['ofOrder']>[1],
  types: readonly string[],
): Promise<HistoryPage<DomainMessage>> => {
  const tells = (kind: string) => types.some((type) => type.startsWith(kind));
  const pages: HistoryPage<DomainMessage>[] = await Promise.all([
    ...(tells('order:') ? [history.ofOrder(orderId, query)] : []),
    ...(tells('payment:') ? [history.ofPayments(orderId, query)] : []),
  ]);
  return mergeHistory(pages);
};
