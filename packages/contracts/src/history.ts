import { z } from 'zod';
import { EventId, OrderId, Timestamp } from './ids.ts';
import { OrderMessage, PaymentMessage } from './topics.ts';

// What orders and payments tell each other's callers of the past.

/** What happened at these instants and between them. `after` is a place that an earlier answer named: what comes up to it is left out. */
export const HistoryQuery = z.object({ from: Timestamp, to: Timestamp, after: z.string().optional() });
export type HistoryQuery = z.infer<typeof HistoryQuery>;

export const MAX_HISTORY_ORDERS = 100;

/** `GET /merchants/:id/orders` of orders -> 200 HistoryOrders. */
export const HistoryOrdersQuery = HistoryQuery.extend({
  limit: z.coerce.number().int().min(1).max(MAX_HISTORY_ORDERS),
});
export type HistoryOrdersQuery = z.infer<typeof HistoryOrdersQuery>;

/** Orders of a merchant to which something may have happened in the range, oldest first. More of them come after `next`; there are no more
 *  when it is null. There may be some when `orders` is empty: one answer looks at a bounded number. */
export const HistoryOrders = z.object({
  orders: z.array(z.object({ id: OrderId, place: z.string() })),
  next: z.string().nullable(),
});
export type HistoryOrders = z.infer<typeof HistoryOrders>;

/** What is told of the events of one order, in the order of their places, which compare as text. `more` may follow the last of them, of which
 *  there is one then. */
export interface HistoryPage<M> {
  readonly messages: { readonly place: string; readonly message: M }[];
  readonly more: boolean;
}

const historyOf = <M extends z.ZodType>(message: M) =>
  z.object({ messages: z.array(z.object({ place: z.string(), message })), more: z.boolean() });

/** What several services tell as one page, as far as all of them have told. */
export const mergeHistory = <M>(pages: readonly HistoryPage<M>[]): HistoryPage<M> => {
  const ends = pages.filter(({ more }) => more).map(({ messages }) => messages.at(-1)!.place);
  const end = ends.sort()[0];
  const messages = pages.flatMap((page) => page.messages).sort((a, b) => (a.place < b.place ? -1 : 1));
  return {
    messages: end === undefined ? messages : messages.filter(({ place }) => place <= end),
    more: end !== undefined,
  };
};

/** `GET /orders/:id/messages` of orders -> 200: what happened to the order, as it was told on `orders.v1`. */
export const OrderHistory = historyOf(OrderMessage);
export type OrderHistory = z.infer<typeof OrderHistory>;

/** `GET /orders/:id/messages` of payments -> 200: what happened to the payments of the order, as it was told on `payments.v1`. */
export const PaymentHistory = historyOf(PaymentMessage);
export type PaymentHistory = z.infer<typeof PaymentHistory>;

const HASHED =
  'SHA-256, in hexadecimal, over `previous_hash`, a line feed, `type`, a line feed and `data` as canonical JSON (RFC 8785).';

/** An event as it is recorded, with what proves that nothing of its stream was changed or left out since. */
export const HistoryEntry = z.object({
  id: EventId,
  stream: z.string().describe('`order-`, `payment-` or `deletion-`, and the id of the order or payment.'),
  sequence: z.int().nonnegative().describe('Its number on the stream, from 0.'),
  type: z.string().describe('What happened, like `OrderPaymentsApplied`.'),
  at: Timestamp.describe('When it happened.'),
  recorded_at: Timestamp.describe('When it was recorded.'),
  actor: z
    .string()
    .describe('Who caused it: `key:` and the first 12 characters of an API key, `service:` and a name, or `debug`.'),
  request_id: z.string().describe('The request in which it was recorded.'),
  correlation_id: z.string().describe('The same for all that one request led to.'),
  causation_id: z.string().describe('The event or the request that led to it.'),
  previous_hash: z
    .string()
    .describe('`hash` of the event before it; of the first one, SHA-256 of the name of the stream.'),
  hash: z.string().describe(HASHED),
  data: z.looseObject({}).describe('All that was recorded; amounts in minor units.'),
});
export type HistoryEntry = z.infer<typeof HistoryEntry>;

/** `GET /orders/:id/history` of orders and of payments -> 200: what is recorded of an order, and of its payments. Of a deleted order only
 *  the record of its deletion. */
export const RecordedHistory = historyOf(HistoryEntry);
export type RecordedHistory = z.infer<typeof RecordedHistory>;

/** `GET /orders/:id/state` of orders -> 200 Order, with what happened up to this instant. 404 before it was there, and once it is deleted. */
export const OrderStateQuery = z.object({ at: Timestamp });
