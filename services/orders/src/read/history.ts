import {
  type HistoryOrders,
  type HistoryOrdersQuery,
  type HistoryQuery,
  OrderEvent,
  type OrderHistory,
  type RecordedHistory,
} from '@cpg/contracts';
import { eventsOf, evolveRecorded, readHistory, readHistoryEntries } from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { deletionStreamOf } from '../commands/deletion.ts';
import { orderMessage } from './messages.ts';
import { orderStreamOf } from '../order/identity.ts';
import { orderDecider } from '../order/order.ts';
import { type ExistingOrder, exists, type Order } from '../order/state.ts';
import { ordersInRange } from './orders-in-range.ts';

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
