import {
  type HistoryOrders,
  type HistoryOrdersQuery,
  type HistoryQuery,
  OrderEvent,
  type OrderHistory,
} from '@cpg/contracts';
import { readHistory } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { orderMessage } from './messages.ts';
import { orderStreamOf } from './order/identity.ts';
import { orderDecider } from './order/order.ts';
import { ordersInRange } from './projections/orders-in-range.ts';

export interface OrderPast {
  readonly ordersOf: (merchantId: string, query: HistoryOrdersQuery) => Promise<HistoryOrders>;
  /** Empty for an order that never was, or is deleted. */
  readonly messagesOf: (orderId: string, query: HistoryQuery) => Promise<OrderHistory>;
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
    messagesOf: (orderId, query) => readHistory(options, [{ name: orderStreamOf(orderId), since: '' }], query),
  };
};
