import { z } from 'zod';

// Recorded orders and payments name these currencies and rails, so none is ever removed from these lists. To stop
// accepting one, refuse it in the request schemas.

/** Currencies that orders are paid in, with the decimals of their amounts. The decimals of stored amounts are final. */
const PAYMENT_CURRENCIES = { USDT: 6, USDC: 6, USDG: 6, BTC: 8, ETH: 18, CAZ: 18 } as const;

/** Currencies of banks, with the decimals of their amounts. Prices may be in them. */
const FIAT_CURRENCIES = { MXN: 2, USD: 2, EUR: 2, ARS: 2 } as const;

const namesOf = <T extends object>(currencies: T) => Object.keys(currencies) as (keyof T & string)[];

export const PaymentCurrency = z.enum(namesOf(PAYMENT_CURRENCIES));
export type PaymentCurrency = z.infer<typeof PaymentCurrency>;

export const FiatCurrency = z.enum(namesOf(FIAT_CURRENCIES));

export const ItemCurrency = z.enum([...FiatCurrency.options, 'USDT', 'USDC', 'USDG']);
export type ItemCurrency = z.infer<typeof ItemCurrency>;

export type Currency = PaymentCurrency | ItemCurrency;

export const PaymentRail = z.enum(['gateway_pay', 'crypto_deposit']);
export type PaymentRail = z.infer<typeof PaymentRail>;

const decimals: Record<Currency, number> = { ...PAYMENT_CURRENCIES, ...FIAT_CURRENCIES };

/** Number of decimals of a currency's minor unit. BTC has 8: one minor unit is a satoshi. */
export const decimalsOf = (currency: Currency): number => decimals[currency];

/** Sets the decimals of CAZ, which has no public token. Called once at startup, before any amount is parsed.
 *  Throws RangeError unless it is an integer from 0 to 18. */
export const configureCaz = (cazDecimals: number): void => {
  if (!Number.isInteger(cazDecimals) || cazDecimals < 0 || cazDecimals > 18) {
    throw new RangeError(`CAZ has 0 to 18 decimals, not ${cazDecimals}`);
  }
  decimals.CAZ = cazDecimals;
};
