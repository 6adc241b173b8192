import {
  AppError,
  deletionStreamOf,
  HistoryOrders,
  HistoryOrdersQuery,
  HistoryQuery,
  Order as OrderResource,
  OrderEvent,
  OrderHistory,
  OrderStateQuery,
  orderStreamOf,
  RecordedHistory,
} from '@cpg/contracts';
import { eventsOf, evolveRecorded, readHistory, readHistoryEntries } from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { orderMessage } from './messages.ts';
import { orderDecider } from '../order/order.ts';
import { type ExistingOrder, exists, type Order } from '../order/state.ts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { orderView } from '../order/view.ts';

export interface OrderHistoryReader {
  readonly ordersOf: (merchantId: string, query: HistoryOrdersQuery) => Promise<HistoryOrders>;
  /** The messages of an order, as published on `orders.v1`. Empty for an unknown or deleted order. */
  readonly messagesOf: (orderId: string, query: HistoryQuery) => Promise<OrderHistory>;
  /** The recorded events of an order; only the deletion record for a deleted order. */
  readonly entriesOf: (orderId: string, query: HistoryQuery) => Promise<RecordedHistory>;
  /** The last state with an `updatedAt` up to an instant (ISO 8601 with milliseconds). Null before the order was
   *  created, and after its deletion. */
  readonly orderAt: (orderId: string, instant: string) => Promise<ExistingOrder | null>;
}

/** Reads the past of orders: the read model finds the orders of a merchant, their streams hold the events. */
export const orderHistory = ({
  client,
  readModel,
}: {
  client: EventStoreDBClient;
  readModel: Queryable;
}): OrderHistoryReader => {
  const options = { client, decider: orderDecider, schema: OrderEvent, messageOf: orderMessage };
  return {
    ordersOf: (merchantId, query) => ordersInRange(readModel, merchantId, query),
    messagesOf: (orderId, query) => readHistory(options, [{ name: orderStreamOf(orderId), startedAt: '' }], query),
    entriesOf: (orderId, query) => {
      const streams = [orderStreamOf(orderId), deletionStreamOf(orderId)];
      return readHistoryEntries(
        client,
        streams.map((name) => ({ name, startedAt: '' })),
        query,
      );
    },
    orderAt: async (orderId, instant) => {
      let order: Order = orderDecider.initial;
      for await (const recorded of eventsOf(client, orderStreamOf(orderId), OrderEvent)) {
        const next = evolveRecorded(orderDecider, order, recorded);
        if (exists(next) && next.updatedAt > instant) break;
        order = next;
      }
      return exists(order) ? order : null;
    },
  };
};

const Id = z.object({ id: z.string() });
const FOR_REPLAYS = { callers: ['webhook-dispatcher'] } as const;
const FOR_AUDITS = { callers: ['gateway', 'admin'] } as const;

/** The past of orders: for replays of the webhook dispatcher, and for merchants and auditors. */
export const historyRoutes: FastifyPluginAsyncZod<{ history: OrderHistoryReader }> = async (app, { history }) => {
  app.get(
    '/merchants/:id/orders',
    {
      config: FOR_REPLAYS,
      schema: { params: Id, querystring: HistoryOrdersQuery, response: { 200: HistoryOrders } },
    },
    (request) => history.ordersOf(request.params.id, request.query),
  );

  app.get(
    '/orders/:id/messages',
    { config: FOR_REPLAYS, schema: { params: Id, querystring: HistoryQuery, response: { 200: OrderHistory } } },
    (request) => history.messagesOf(request.params.id, request.query),
  );

  app.get(
    '/orders/:id/history',
    {
      config: FOR_AUDITS,
      schema: { params: Id, querystring: HistoryQuery, response: { 200: RecordedHistory } },
    },
    (request) => history.entriesOf(request.params.id, request.query),
  );

  app.get(
    '/orders/:id/state',
    { config: FOR_AUDITS, schema: { params: Id, querystring: OrderStateQuery, response: { 200: OrderResource } } },
    async (request) => {
      const order = await history.orderAt(request.params.id, request.query.at);
      if (!order) throw new AppError('not_found', 'the order did not exist at that time');
      return orderView(order);
    },
  );
};

interface Row {
  readonly id: string;
  readonly created_at: Date;
}

/** The number of orders that one query examines. It bounds the query for merchants with many orders. */
const EXAMINED_ORDERS = 2_000;

// Uses the index of the list endpoints. `created_at` never changes, so a cursor stays valid.
const CREATED_UP_TO = `
  select id, created_at, last_event_at from orders.orders
  where merchant_id = $1 and not deleted and created_at <= $2 and (created_at, id) > ($3::timestamptz, $4)
  order by created_at, id`;

/** Orders of a merchant with events in the range, or near it, oldest first. */
const ordersInRange = async (
  db: Queryable,
  merchantId: string,
  { from, to, after, limit }: HistoryOrdersQuery,
): Promise<HistoryOrders> => {
  const window = [merchantId, to, ...parsed(after)];
  const { rows } = await db.query<Row>(
    `select id, created_at from (${CREATED_UP_TO} limit ${EXAMINED_ORDERS}) as examined
     where last_event_at >= $5 or last_event_at is null order by created_at, id limit $6`,
    [...window, from, limit],
  );
  const orders = rows.map((row) => ({ id: row.id, place: placeOf(row) }));
  if (orders.length === limit) return { orders, next: orders.at(-1)!.place };
  const lastExamined = await db.query<Row>(`${CREATED_UP_TO} offset ${EXAMINED_ORDERS - 1} limit 1`, window);
  return { orders, next: lastExamined.rows[0] ? placeOf(lastExamined.rows[0]) : null };
};

const placeOf = ({ created_at, id }: Row): string => `${created_at.toISOString()} ${id}`;

const parsed = (place = '-infinity '): [string, string] => {
  const [createdAt = '', id = ''] = place.split(' ');
  return [createdAt, id];
};
