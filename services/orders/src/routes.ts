import type { FastifyPluginAsync } from 'fastify';
import type { OrderHistoryReader } from './read/history.ts';
import { historyRoutes } from './read/routes.ts';
import { type MerchantOrderRoutes, merchantOrderRoutes } from './merchant-routes.ts';
import { orderClockRoutes } from './deadlines/order-clock.ts';
import { orderPaymentRoutes } from './payments/routes.ts';

export interface OrderRoutes extends MerchantOrderRoutes {
  readonly history: OrderHistoryReader;
  /** Whether the clock of an order may be advanced. */
  readonly sandbox: boolean;
}

/** The internal HTTP interface of orders, for the other services. */
export const orderRoutes: FastifyPluginAsync<OrderRoutes> = async (app, options) => {
  await app.register(merchantOrderRoutes, options);
  await app.register(orderPaymentRoutes, options);
  await app.register(historyRoutes, options);
  if (options.sandbox) await app.register(orderClockRoutes, options);
};
