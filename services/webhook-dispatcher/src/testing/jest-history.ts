import type { DomainMessage, HistoryQuery, OrderMessage, PaymentMessage } from '@cpg/contracts';
import { groupBy } from '../group-by.ts';
import type { History } from '../clients/history.ts';

const MESSAGES_AT_MOST = 3;

/** Orders and payments as a replay sees them, with pages so short that it has to come again. */
export const pastOf = () => {
  const happened: DomainMessage[] = [];
  const asked: string[] = [];
  let isAway = false;
  let before = async () => {};

  const answer = async <T>(call: string, make: () => T): Promise<T> => {
    asked.push(call);
    await before();
    if (isAway) throw new Error('orders is not available right now');
    return make();
  };
  const inRange = ({ from, to }: HistoryQuery) => happened.filter(({ time }) => time >= from && time <= to);
  const page = <M extends DomainMessage>(orderId: string, source: string, query: HistoryQuery) => {
    const found = inRange(query)
      .filter(({ orderid, type }) => orderid === orderId && type.startsWith(source))
      .map((message) => ({ place: `${message.time} ${message.id}`, message: message as M }))
      .filter(({ place }) => place > (query.after ?? ''))
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    return { messages: found.slice(0, MESSAGES_AT_MOST), more: found.length > MESSAGES_AT_MOST };
  };
  const history: History = {
    ordersOf: (merchantId, query) =>
      answer('orders', () => {
        const all = [...groupBy(inRange(query), ({ orderid }) => orderid)]
          .filter(([, messages]) => messages[0]!.merchantid === merchantId)
          .map(([id, messages]) => ({ id, place: `${messages.map(({ time }) => time).sort()[0]} ${id}` }))
          .filter(({ place }) => place > (query.after ?? ''))
          .sort((a, b) => (a.place < b.place ? -1 : 1));
        const orders = all.slice(0, query.limit);
        return { orders, next: all.length > orders.length ? orders.at(-1)!.place : null };
      }),
    ofOrder: (orderId, query) => answer(orderId, () => page<OrderMessage>(orderId, 'order.', query)),
    ofPayments: (orderId, query) => answer(orderId, () => page<PaymentMessage>(orderId, 'payment.', query)),
  };
  return {
    ...history,
    happened,
    asked,
    setAway: (away: boolean) => void (isAway = away),
    /** Done before each answer. */
    setBefore: (work: () => Promise<void>) => void (before = work),
  };
};
