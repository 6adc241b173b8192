import type { FastifyPluginAsync } from 'fastify';
import type { OrderHistoryReader } from './history.ts';
import { historyRoutes } from './routes/history.ts';
import { type MerchantOrderRoutes, merchantOrderRoutes } from './routes/merchant-orders.ts';
import { orderClockRoutes } from './routes/order-clock.ts';
import { orderPaymentRoutes } from './routes/order-payments.ts';

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
