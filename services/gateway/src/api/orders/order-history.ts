import {
  decimalsIn,
  type HistoryEntry,
  type HistoryPage,
  historyView,
  invalidRequest,
  mergeHistory,
  type Order,
  PAYMENT_STREAM_PREFIX,
  type RecordedEntry,
} from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { decimalsOfPayments } from '../payments/payment-queries.ts';
import type { PaymentsClient } from '../payments/payments-client.ts';
import type { OrdersClient } from './orders-client.ts';

const ALL_TIME = { from: '1970-01-01T00:00:00.000Z', to: '9999-12-31T23:59:59.999Z' };

export type ReadHistory = (
  orderId: string,
  after: string | undefined,
  context: CallContext,
) => Promise<HistoryPage<RecordedEntry>>;

/** Reads one page of the recorded events of an order and its payments, oldest first. */
export const createHistoryReader =
  ({
    orders,
    payments,
  }: Record<'orders', Pick<OrdersClient, 'history'>> &
    Record<'payments', Pick<PaymentsClient, 'history'>>): ReadHistory =>
  async (orderId, after, context) => {
    const query = { ...ALL_TIME, after };
    const pages = [orders, payments].map((service) => service.history(orderId, query, context));
    return mergeHistory(await Promise.all(pages));
  };

/** Reads one page of the history of an order as the API shows it, with `limit` events at most. The events do not repeat
 *  the decimals of their amounts: the order has them, or, on the stream of a payment, the payment. */
export const createPublicHistoryReader =
  (readHistory: ReadHistory, db: Queryable) =>
  async (
    order: Order,
    { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
    context: CallContext,
  ): Promise<HistoryPage<HistoryEntry>> => {
    const { messages: found, more } = await readHistory(order.id, decodeCursor(cursor), context);
    const messages = found.slice(0, limit);
    const decimals = new Map(order.payments.map(({ id, paid_amount }) => [id, decimalsIn(paid_amount)]));
    decimals.set(order.id, decimalsIn(order.total_amount));
    const unknown = messages
      .map(({ message: { stream } }) => stream)
      .filter((stream) => stream.startsWith(PAYMENT_STREAM_PREFIX))
      .map((stream) => stream.slice(PAYMENT_STREAM_PREFIX.length))
      .filter((id) => !decimals.has(id));
    // An order has no record of payments beyond its limit.
    if (unknown.length > 0)
      for (const [id, ofPayment] of await decimalsOfPayments(db, unknown)) decimals.set(id, ofPayment);
    return {
      messages: messages.map(({ place, message }) => ({
        place,
        message: historyView(message, order.id, (id) => decimals.get(id)),
      })),
      more: more || found.length > limit,
    };
  };

/** The time as ISO 8601 with milliseconds, moved into the years 1970 to 9999: ISO 8601 cannot express all years, and no
 *  event is recorded outside these. */
export const inRecordedTime = (instant: Date): string => {
  const [from, to] = [ALL_TIME.from, ALL_TIME.to].map((end) => Date.parse(end));
  return new Date(Math.max(from!, Math.min(to!, instant.getTime()))).toISOString();
};

const PRINTABLE_ASCII = /^[\x20-\x7e]+$/;

/** An opaque cursor for clients: base64url of a position in a history. */
export const encodeCursor = (position: string): string => Buffer.from(position).toString('base64url');

/** The position in a cursor; undefined without a cursor. Throws `invalid_request` for other text. */
const decodeCursor = (cursor: string | undefined): string | undefined => {
  if (cursor === undefined) return undefined;
  const position = Buffer.from(cursor, 'base64url').toString();
  if (!PRINTABLE_ASCII.test(position) || encodeCursor(position) !== cursor)
    throw invalidRequest([{ path: 'cursor', message: 'must be the `next_cursor` of an earlier response' }]);
  return position;
};
