import { join } from 'node:path';
import { AssetsConfig, type AssetTable, readAssets } from '@cpg/assets';
import {
  type Decimal,
  ItemCurrency,
  MAX_EXPIRATION_MINUTES,
  MIN_EXPIRATION_MINUTES,
  PaymentCurrency,
  type Scales,
  scalesOf,
} from '@cpg/contracts';
import { EventStoreConfig, HttpUrl, KafkaConfig, Port, readConfig, SecretList, ServiceConfig } from '@cpg/platform';
import { z } from 'zod';
import { parseMaxAge, PUBLIC_SOURCES } from './rates/sources/public.ts';
import { positive, type PricedCurrency } from './rates/sources/source.ts';

const PricedCurrencyName = z.union([ItemCurrency, PaymentCurrency]);

const FixedPrices = z.string().transform((text, context) => {
  const prices = new Map<PricedCurrency, Decimal>();
  for (const entry of text.split(',')) {
    const [name = '', value] = entry.split('=').map((part) => part.trim());
    const currency = PricedCurrencyName.safeParse(name);
    const usd = positive(value);
    if (currency.success && usd) prices.set(currency.data, usd);
    else context.addIssue({ code: 'custom', message: `${JSON.stringify(entry)} must have the form CAZ=0.25` });
  }
  return prices;
});

const SourcesOf = z.string().transform((text, context) => {
  const sources = new Map<PricedCurrency, string[]>();
  for (const entry of text.split(',')) {
    const [name = '', list = ''] = entry.split('=').map((part) => part.trim());
    const currency = PricedCurrencyName.safeParse(name).data;
    const named = list.split('+').map((part) => part.trim());
    const able = PUBLIC_SOURCES.filter((each) => currency && each.currencies.includes(currency)).map(
      (each) => each.name,
    );
    if (currency && named.every((each) => able.includes(each))) sources.set(currency, named);
    else
      context.addIssue({
        code: 'custom',
        message: `${JSON.stringify(entry)} must have the form BTC=kraken+coinbase${currency && able.length > 0 ? `: ${currency} is priced by ${able.join(', ')}` : ''}`,
      });
  }
  return sources;
});

const MaxAges = z.string().transform((text, context) => {
  const entries = text.split(',').map((entry) => parseMaxAge(entry) ?? entry);
  for (const entry of entries)
    if (typeof entry === 'string')
      context.addIssue({
        code: 'custom',
        message: `${JSON.stringify(entry)} must have the form ecb=27h or kraken=5m: a source (${PUBLIC_SOURCES.map(({ name }) => name).join(', ')}) and 1m to 168h`,
      });
  return new Map(entries.filter((entry) => typeof entry !== 'string'));
});

const Config = z
  .object({
    ...ServiceConfig.shape,
    ...EventStoreConfig.shape,
    ...KafkaConfig.shape,
    ...AssetsConfig.shape,
    PORT: Port.default(4001),
    PAYMENTS_URL: HttpUrl,
    /** The first one is sent; all are accepted by payments. */
    ORDERS_TO_PAYMENTS_TOKEN: SecretList,
    /** The tokens of the callers of orders. */
    GATEWAY_TO_ORDERS_TOKEN: SecretList,
    PAYMENTS_TO_ORDERS_TOKEN: SecretList,
    WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN: SecretList,
    ADMIN_TO_ORDERS_TOKEN: SecretList,
    /** `table`: the fixed rates of RATES_FILE, sandbox only. `market`: rates of public sources. By default `table` in a
     *  sandbox, `market` in production. */
    RATES: z.enum(['table', 'market']).optional(),
    /** Fixed prices in US dollars, used with RATES=market: `CAZ=0.25,USDG=1`. */
    FIXED_USD_PRICES: FixedPrices.optional(),
    /** The age at which the prices of a public source become stale: `ecb=100h,kraken=5m`. Each has a default. */
    RATE_MAX_AGES: MaxAges.optional(),
    /** The public sources of a currency: `ARS=bitso,EUR=kraken+ecb`. By default all that price it. */
    RATE_SOURCES: SourcesOf.optional(),
    /** How long rates may be locked, from their quote. A deadline beyond it needs a renewal. */
    RATE_LOCK_MAX_MINUTES: z.coerce
      .number()
      .int()
      .min(MIN_EXPIRATION_MINUTES)
      .max(MAX_EXPIRATION_MINUTES)
      .default(1_440),
    /** JSON file with the rates of RATES=table. */
    RATES_FILE: z.string().default(join(import.meta.dirname, '../config/sandbox-rates.json')),
  })
  .refine((config) => config.ENVIRONMENT === 'sandbox' || config.RATES !== 'table', {
    path: ['RATES'],
    error: 'must be market in production',
  });
export type Config = z.infer<typeof Config> & { readonly assets: AssetTable; readonly scales: Scales };

/** Reads the environment variables and the file of assets. Throws ConfigError with the variable and the fault. */
export const readOrdersConfig = (env: NodeJS.ProcessEnv): Config => {
  const config = readConfig(Config, env);
  return { ...config, assets: readAssets(config), scales: scalesOf(config) };
};
