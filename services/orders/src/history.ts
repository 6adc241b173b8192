import {
  type HistoryOrders,
  type HistoryOrdersQuery,
  type HistoryQuery,
  OrderEvent,
  type OrderHistory,
  type RecordedHistory,
} from '@cpg/contracts';
import { eventsOf, readHistory } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import { readHistoryEntries } from '@cpg/stream-relay';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { deletionStreamOf } from './deletion.ts';
import { orderMessage } from './messages.ts';
import { orderStreamOf } from './order/identity.ts';
import { orderDecider } from './order/order.ts';
import { type ExistingOrder, exists, type Order } from './order/state.ts';
import { ordersInRange } from './projections/orders-in-range.ts';

export interface OrderPast {
  readonly ordersOf: (merchantId: string, query: HistoryOrdersQuery) => Promise<HistoryOrders>;
  /** Empty for an order that never was, or is deleted. */
  readonly messagesOf: (orderId: string, query: HistoryQuery) => Promise<OrderHistory>;
  /** What is recorded of an order: its events, or only that it was deleted. */
  readonly entriesOf: (orderId: string, query: HistoryQuery) => Promise<RecordedHistory>;
  /** The order with what happened up to an instant (ISO 8601 with milliseconds); null before it was there, and once it is deleted. */
  readonly orderAt: (orderId: string, instant: string) => Promise<ExistingOrder | null>;
}

/** What happened to the orders of a merchant: the read model says which orders, their streams say what. */
export const orderHistory = ({
  client,
  readModel,
}: {
  client: EventStoreDBClient;
  readModel: Queryable;
}): OrderPast => {
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
      for await (const { event } of eventsOf(client, orderStreamOf(orderId), OrderEvent)) {
        if (event.data.at > instant) break;
        order = orderDecider.evolve(order, event);
      }
      return exists(order) ? order : null;
    },
  };
};
