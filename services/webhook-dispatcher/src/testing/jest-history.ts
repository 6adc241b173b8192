import {
  AppError,
  type DomainMessage,
  type HistoryQuery,
  type OrderMessage,
  type PaymentMessage,
} from '@cpg/contracts';
import { groupBy } from '@cpg/platform';
import type { History } from '../replay/past-events.ts';

const PAGE_SIZE = 3;

/** The history API of orders and payments, in memory, with short pages. */
export const testHistory = () => {
  const happened: DomainMessage[] = [];
  let isUnavailable = false;
  let broken: string | null = null;
  let beforeAnswer = async () => {};

  const answer = async <T>(make: () => T): Promise<T> => {
    await beforeAnswer();
    if (isUnavailable) throw new Error('orders is not available right now');
    return make();
  };
  const inRange = ({ from, to }: HistoryQuery) => happened.filter(({ time }) => time >= from && time <= to);
  const page = <M extends DomainMessage>(orderId: string, source: string, query: HistoryQuery) => {
    const found = inRange(query)
      .filter(({ orderid, type }) => orderid === orderId && type.startsWith(source))
      .map((message) => ({ place: `${message.time} ${message.id}`, message: message as M }))
      .filter(({ place }) => place > (query.after ?? ''))
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    return { messages: found.slice(0, PAGE_SIZE), more: found.length > PAGE_SIZE };
  };
  const history: History = {
    ordersOf: (merchantId, query) =>
      answer(() => {
        const all = [...groupBy(inRange(query), ({ orderid }) => orderid)]
          .filter(([, messages]) => messages[0]!.merchantid === merchantId)
          .map(([id, messages]) => ({ id, place: `${messages.map(({ time }) => time).sort()[0]} ${id}` }))
          .filter(({ place }) => place > (query.after ?? ''))
          .sort((a, b) => (a.place < b.place ? -1 : 1));
        const orders = all.slice(0, query.limit);
        return { orders, next: all.length > orders.length ? orders.at(-1)!.place : null };
      }),
    ofOrder: (orderId, query) =>
      answer(() => {
        if (orderId === broken) throw new AppError('internal_error', 'orders answered 500');
        return page<OrderMessage>(orderId, 'order.', query);
      }),
    ofPayments: (orderId, query) => answer(() => page<PaymentMessage>(orderId, 'payment.', query)),
  };
  return {
    ...history,
    happened,
    setUnavailable: (unavailable: boolean) => void (isUnavailable = unavailable),
    /** The events of this order cannot be read. */
    setBroken: (orderId: string | null) => void (broken = orderId),
    /** Runs before each answer. */
    setBeforeAnswer: (work: () => Promise<void>) => void (beforeAnswer = work),
  };
};
