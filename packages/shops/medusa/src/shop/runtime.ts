import { container } from '@medusajs/framework';
import { ContainerRegistrationKeys } from '@medusajs/framework/utils';
import { createShop, type Outcome, type Shop } from '@cpg/shop-client';
import { type PluginOptions, readOptions } from '../options.ts';
import { createPages, type Pages } from '../page.ts';
import { takeOrder } from './take-order.ts';
import { createStore, type Database } from './store.ts';

/** The connection of this process with the gateway. All parts of the plugin share it. */
export interface Runtime {
  readonly options: PluginOptions;
  readonly shop: Shop;
  readonly pages: Pages;
  /** Registers the webhook, once in this process, and starts the look-up of missed payments. */
  readonly connect: () => Promise<Outcome<unknown>>;
}

let options: PluginOptions | undefined;
let runtime: Runtime | undefined;

/** Called by Medusa with the options of the provider, before anything else. */
export const configure = (given: Record<string, unknown>): void => {
  options = readOptions(given);
};

const databaseOf = (): Database => container.resolve(ContainerRegistrationKeys.PG_CONNECTION) as unknown as Database;

export const getRuntime = (): Runtime => {
  if (!options)
    throw new Error('@cpg/medusa-payments is no payment provider in medusa-config: its README shows the lines');
  return (runtime ??= createRuntime(options));
};

const createRuntime = (given: PluginOptions): Runtime => {
  const { gatewayUrl: baseUrl, apiKey, shop: name, backendUrl } = given;
  const store = createStore(databaseOf);
  const logger = container.resolve(ContainerRegistrationKeys.LOGGER);
  const shop = createShop({
    baseUrl,
    apiKey,
    shop: name,
    webhookUrl: new URL('/crypto-payments/webhook', backendUrl).href,
    store,
    onOrder: (order, meaning) => takeOrder(order, meaning, databaseOf()),
    log: {
      info: (message) => logger.info(`crypto payments: ${message}`),
      warn: (message) => logger.warn(`crypto payments: ${message}`),
    },
  });
  let isRegistered = false;
  const done: Outcome<unknown> = { ok: true, value: undefined };
  return {
    options: given,
    shop,
    pages: createPages(shop.orders, store),
    connect: async () => {
      shop.start();
      const outcome = isRegistered ? done : await shop.register();
      isRegistered = outcome.ok;
      return outcome;
    },
  };
};
