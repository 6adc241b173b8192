import { z } from 'zod';

// Recorded orders and payments name these currencies and rails, so none is ever removed from these lists. To stop
// accepting one, refuse it in the request schemas.

/** Currencies whose coins keep the value of a currency of a bank. Prices may be in them, and orders are paid in
 *  them. */
const STABLECOINS = { USDT: 6, USDC: 6, USDG: 6 } as const;

/** Currencies that orders are paid in, with the decimals of their amounts; null where the configuration decides. The
 *  decimals of stored amounts are final. */
const PAYMENT_CURRENCIES = { ...STABLECOINS, BTC: 8, ETH: 18, CAZ: null } as const;

/** Currencies of banks, with the decimals of their amounts by ISO 4217. Prices may be in them. */
const FIAT_CURRENCIES = {
  MXN: 2,
  USD: 2,
  EUR: 2,
  ARS: 2,
  BRL: 2,
  COP: 2,
  CLP: 0,
  PEN: 2,
  GBP: 2,
  CHF: 2,
  CAD: 2,
  AUD: 2,
  JPY: 0,
  KWD: 3,
} as const;

/** Currencies of prices. */
const ITEM_CURRENCIES = { ...FIAT_CURRENCIES, ...STABLECOINS } as const;

const namesOf = <T extends object>(currencies: T) => Object.keys(currencies) as (keyof T & string)[];

export const PaymentCurrency = z.enum(namesOf(PAYMENT_CURRENCIES));
export type PaymentCurrency = z.infer<typeof PaymentCurrency>;

export const FiatCurrency = z.enum(namesOf(FIAT_CURRENCIES));

export const ItemCurrency = z.enum(namesOf(ITEM_CURRENCIES));
export type ItemCurrency = z.infer<typeof ItemCurrency>;

/** In what the refund of an order may be given: its payment currency, or a currency of its items. */
export const RefundCurrency = z.enum([...new Set([...ItemCurrency.options, ...PaymentCurrency.options])]);
export type RefundCurrency = z.infer<typeof RefundCurrency>;

/** What an item stands for. A discount lowers the total. */
export const ItemKind = z.enum(['product', 'discount', 'tax', 'shipping']);
export type ItemKind = z.infer<typeof ItemKind>;

export const PaymentRail = z.enum(['gateway_pay', 'crypto_deposit']);
export type PaymentRail = z.infer<typeof PaymentRail>;

/** Decimals of the unit prices of items. */
export const priceDecimals = (currency: ItemCurrency): number => ITEM_CURRENCIES[currency];

/** The decimals of new amounts of each currency. Orders and payments record theirs: use those for amounts that are
 *  recorded. */
export type Scales = Readonly<Record<PaymentCurrency, number>>;

/** The scales of a configuration. CAZ has no public token, so the configuration gives it its decimals. */
export const scalesOf = ({ CAZ_DECIMALS }: { readonly CAZ_DECIMALS: number }): Scales => ({
  ...PAYMENT_CURRENCIES,
  CAZ: CAZ_DECIMALS,
});
