import { type Type, VendurePlugin, PluginCommonModule } from '@vendure/core';
import { eligibilityChecker, handler, orderProcess } from './handler.ts';
import { type CryptoPaymentsOptions, OPTIONS, WEBHOOK_PATH } from './options.ts';
import { CryptoPaymentsService } from './service.ts';
import { schema, ShopApiResolver } from './shop-api.ts';
import { keepRawBody, WebhookController } from './webhook.ts';

/** Payments in crypto, by the crypto payment gateway. */
@VendurePlugin({
  imports: [PluginCommonModule],
  compatibility: '^3.0.0',
  providers: [CryptoPaymentsService, { provide: OPTIONS, useFactory: () => CryptoPaymentsPlugin.options }],
  controllers: [WebhookController],
  shopApiExtensions: { schema, resolvers: [ShopApiResolver] },
  configuration: (config) => {
    config.paymentOptions.paymentMethodHandlers.push(handler);
    (config.paymentOptions.paymentMethodEligibilityCheckers ??= []).push(eligibilityChecker);
    config.orderOptions.process.push(orderProcess);
    config.apiOptions.middleware.push({ route: WEBHOOK_PATH, handler: keepRawBody, beforeListen: true });
    return config;
  },
})
export class CryptoPaymentsPlugin {
  static options: CryptoPaymentsOptions;

  static init(options: CryptoPaymentsOptions): Type<CryptoPaymentsPlugin> {
    this.options = options;
    return CryptoPaymentsPlugin;
  }
}
