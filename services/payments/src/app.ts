import { internalApp, type InternalAppOptions } from '@cpg/operations';
import type { DepositSettingsOf } from './addresses/merchant-settings.ts';
import { depositSettingsRoutes } from './addresses/routes.ts';
import { type PageRoutes, pageRoutes } from './rails/gateway-pay/page-routes.ts';
import { type ProviderRoutes, providerRoutes } from './rails/gateway-pay/routes.ts';
import { type PaymentRoutes, paymentRoutes, simulatedPaymentRoutes } from './routes.ts';

type Routes = PaymentRoutes &
  ProviderRoutes &
  PageRoutes & {
    readonly depositSettings: DepositSettingsOf;
    /** Whether payments may be invented. */
    readonly sandbox: boolean;
  };

/** The internal HTTP server of payments. */
export const buildApp = (options: InternalAppOptions & Routes) =>
  internalApp(options, async (app) => {
    await app.register(paymentRoutes, options);
    if (options.sandbox) await app.register(simulatedPaymentRoutes, options);
    await app.register(depositSettingsRoutes, options);
    await app.register(providerRoutes, options);
    await app.register(pageRoutes, options);
  });
