import { internalApp, type InternalAppOptions } from '@cpg/operations';
import { orderClockRoutes } from './deadlines/order-clock.ts';
import { type MerchantOrderRoutes, merchantOrderRoutes } from './merchant-routes.ts';
import { orderPaymentRoutes } from './payments/routes.ts';
import type { OrderHistoryReader } from './read/history.ts';
import { historyRoutes } from './read/routes.ts';

export interface OrderRoutes extends MerchantOrderRoutes {
  readonly history: OrderHistoryReader;
  /** Whether the clock of an order may be advanced. */
  readonly sandbox: boolean;
}

/** The internal HTTP server of orders. */
export const buildApp = (options: InternalAppOptions & OrderRoutes) =>
  internalApp(options, async (app) => {
    await app.register(merchantOrderRoutes, options);
    await app.register(orderPaymentRoutes, options);
    await app.register(historyRoutes, options);
    if (options.sandbox) await app.register(orderClockRoutes, options);
  });
