import { decimalsOf, minorOfDecimal, type Money, priceCurrency } from '@cpg/shop-client';

/** An amount as Medusa hands it over: a number, a text, or one of its objects for large numbers. */
export type MedusaAmount =
  | number
  | string
  | { readonly value: number | string }
  | { readonly raw?: { readonly value: number | string } | undefined; readonly numeric: number };

/** The exact amount. Undefined if the gateway takes no prices in this currency. */
export const moneyOf = (amount: MedusaAmount, currencyCode: string): Money | undefined => {
  const currency = priceCurrency(currencyCode);
  return currency && { minor: minorOfDecimal(textOf(amount), decimalsOf(currency)), currency };
};

const textOf = (amount: MedusaAmount): string => {
  if (typeof amount !== 'object') return String(amount);
  if ('value' in amount) return String(amount.value);
  return String(amount.raw?.value ?? amount.numeric);
};
