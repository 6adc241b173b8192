import {
  AppError,
  HistoryOrders,
  HistoryOrdersQuery,
  HistoryQuery,
  Order,
  OrderHistory,
  OrderStateQuery,
  RecordedHistory,
} from '@cpg/contracts';
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod';
import type { OrderHistoryReader } from './history.ts';
import { orderView } from '../order/view.ts';
import { z } from 'zod';

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
    { config: FOR_AUDITS, schema: { params: Id, querystring: OrderStateQuery, response: { 200: Order } } },
    async (request) => {
      const order = await history.orderAt(request.params.id, request.query.at);
      if (!order) throw new AppError('not_found', 'the order did not exist at that time');
      return orderView(order);
    },
  );
};
