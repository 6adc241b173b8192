import { eventSourcedApp, type EventSourcedAppOptions } from '@cpg/operations';
import type { DepositSettingsOf } from './addresses/merchant-settings.ts';
import {
  claimRoutes,
  type ClaimRoutes,
  depositSettingsRoutes,
  pageRoutes,
  type PageRoutes,
  type PaymentRoutes,
  paymentRoutes,
  type ProviderRoutes,
  providerRoutes,
  simulatedPaymentRoutes,
} from './routes.ts';

type Routes = PaymentRoutes &
  ClaimRoutes &
  ProviderRoutes &
  PageRoutes & {
    readonly depositSettings: DepositSettingsOf;
    /** Whether payments may be invented. */
    readonly sandbox: boolean;
  };

/** The internal HTTP server of payments. */
export const buildApp = (options: EventSourcedAppOptions & Routes) =>
  eventSourcedApp(options, async (app) => {
    await app.register(paymentRoutes, options);
    await app.register(claimRoutes, options);
    if (options.sandbox) await app.register(simulatedPaymentRoutes, options);
    await app.register(depositSettingsRoutes, options);
    await app.register(providerRoutes, options);
    await app.register(pageRoutes, options);
  });
