import { eventSourcedApp, type EventSourcedAppOptions } from '@cpg/operations';
import { type MerchantRoutes, merchantRoutes, orderClockRoutes } from './merchant-routes.ts';
import { paymentReportRoutes } from './payments/routes.ts';
import { historyRoutes, type OrderHistoryReader } from './read/history.ts';

export interface OrderRoutes extends MerchantRoutes {
  readonly history: OrderHistoryReader;
  /** Whether the clock of an order may be advanced. */
  readonly sandbox: boolean;
}

/** The internal HTTP server of orders. */
export const buildApp = (options: EventSourcedAppOptions & OrderRoutes) =>
  eventSourcedApp(options, async (app) => {
    await app.register(merchantRoutes, options);
    await app.register(paymentReportRoutes, options);
    await app.register(historyRoutes, options);
    if (options.sandbox) await app.register(orderClockRoutes, options);
  });
