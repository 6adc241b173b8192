import { z } from 'zod';
import { EventId, OrderId, Timestamp } from './ids.ts';
import { RECORDING } from './resources/history.ts';
import { OrderMessage, PaymentMessage } from './topics.ts';

// The past of orders and payments, read from their event streams. A `place` is a cursor in such a history; places
// compare as text.

/** A time range, both ends inclusive. `after` is the last place of the page before. */
export const HistoryQuery = z.object({ from: Timestamp, to: Timestamp, after: z.string().optional() });
export type HistoryQuery = z.infer<typeof HistoryQuery>;

export const MAX_HISTORY_ORDERS = 100;

/** `GET /merchants/:id/orders` of orders -> 200 HistoryOrders. */
export const HistoryOrdersQuery = HistoryQuery.extend({
  limit: z.coerce.number().int().min(1).max(MAX_HISTORY_ORDERS),
});
export type HistoryOrdersQuery = z.infer<typeof HistoryOrdersQuery>;

/** Orders of a merchant that may have events in the range, oldest first. `next` is the cursor of the next page, null
 *  after the last one. A place is the time at which the order was created, a space, and the id of the order.
 *  `orders` may be empty before the last page, because one request examines a bounded number of orders. */
export const HistoryOrders = z.object({
  orders: z.array(z.object({ id: OrderId, place: z.string() })),
  next: z.string().nullable(),
});
export type HistoryOrders = z.infer<typeof HistoryOrders>;

/** A page of the history of one order, sorted by place. If `more` is true, the page is not empty and more messages may
 *  follow it. */
export interface HistoryPage<M> {
  readonly messages: { readonly place: string; readonly message: M }[];
  readonly more: boolean;
}

const historyOf = <M extends z.ZodType>(message: M) =>
  z.object({ messages: z.array(z.object({ place: z.string(), message })), more: z.boolean() });

/** Merges the pages of several services into one. It ends where the first page with `more` ends. */
export const mergeHistory = <M>(pages: readonly HistoryPage<M>[]): HistoryPage<M> => {
  const ends = pages.filter(({ more }) => more).map(({ messages }) => messages.at(-1)!.place);
  const end = ends.sort()[0];
  const messages = pages.flatMap((page) => page.messages).sort((a, b) => (a.place < b.place ? -1 : 1));
  return {
    messages: end === undefined ? messages : messages.filter(({ place }) => place <= end),
    more: end !== undefined,
  };
};

/** `GET /orders/:id/messages` of orders -> 200. The messages of the order, as published on `orders.v1`. */
export const OrderHistory = historyOf(OrderMessage);
export type OrderHistory = z.infer<typeof OrderHistory>;

/** `GET /orders/:id/messages` of payments -> 200. The messages of the order's payments, as published on
 *  `payments.v1`. */
export const PaymentHistory = historyOf(PaymentMessage);
export type PaymentHistory = z.infer<typeof PaymentHistory>;

const HASHED =
  'SHA-256, in hexadecimal, over `cpg event 2`, a line feed, and all fields of this entry except `hash`, `at` and `recorded_at` as canonical JSON (RFC 8785).';

/** A recorded event as it is stored, for auditors; `HistoryEntry` is its form in the API. Its hashes prove that no
 *  event of the stream was changed or removed. */
export const RecordedEntry = z.object({
  id: EventId,
  stream: z.string().describe('`order-`, `payment-` or `deletion-`, and the id of the order or payment.'),
  sequence: z.int().nonnegative().describe('Number of the event on its stream, from 0.'),
  ...RECORDING,
  hash_version: z.int().describe('Which fields `hash` covers, and in which form.'),
  salt: z.string().describe('Random: nobody can confirm a guess of the content by the hash.'),
  hash: z.string().describe(HASHED),
  data: z.looseObject({}).describe('The recorded data. Amounts are in minor units.'),
});
export type RecordedEntry = z.infer<typeof RecordedEntry>;

/** `GET /orders/:id/history` of orders and of payments -> 200. The recorded events of the order, or of its payments.
 *  For a deleted order only its deletion record. */
export const RecordedHistory = historyOf(RecordedEntry);
export type RecordedHistory = z.infer<typeof RecordedHistory>;

/** `GET /orders/:id/state` of orders -> 200 Order, with all events up to this instant. 404 before its creation and
 *  after its deletion. */
export const OrderStateQuery = z.object({ at: Timestamp });
