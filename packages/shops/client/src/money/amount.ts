import type { ItemCurrency } from '@cpg/sdk';

/** Price currencies of the gateway, with their decimals: ISO 4217, and 6 for the stablecoins. */
const DECIMALS = {
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
  USDT: 6,
  USDC: 6,
  USDG: 6,
} as const satisfies Record<ItemCurrency, number>;

/** An amount in minor units of its currency: cents, whole yen, thousandths of a dinar. */
export interface Money {
  readonly minor: bigint;
  readonly currency: ItemCurrency;
}

/** The price currency of a shop's code, in capitals or not. Undefined if the gateway takes no prices in it. */
export const priceCurrency = (code: string): ItemCurrency | undefined => {
  const name = code.toUpperCase();
  return Object.hasOwn(DECIMALS, name) ? (name as ItemCurrency) : undefined;
};

export const decimalsOf = (currency: ItemCurrency): number => DECIMALS[currency];

/** The minor units of a decimal amount, such as 10.5 or `"10.50"`. What is smaller than a minor unit is rounded, halves
 *  away from zero, because shops compute taxes and discounts with more decimals. Throws RangeError for no number. */
export const minorOfDecimal = (amount: number | string, decimals: number): bigint => {
  const parts = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d{1,3}))?$/i.exec(String(amount).trim());
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = parts ?? [];
  if (!parts || whole + fraction === '') throw new RangeError(`${JSON.stringify(amount)} is no amount`);
  const scale = decimals + Number(exponent) - fraction.length;
  const size = scaled(BigInt(whole + fraction), scale);
  return sign === '-' ? -size : size;
};

/** Minor units with `from` decimals as minor units with `to` decimals, rounded, halves away from zero: some shops keep
 *  two decimals of every currency, also of yen. */
export const rescaled = (minor: bigint, from: number, to: number): bigint =>
  minor < 0n ? -scaled(-minor, to - from) : scaled(minor, to - from);

/** The decimal text of the API, with all decimals of the currency: `"10.50"`. */
export const decimalText = (minor: bigint, decimals: number): string => {
  const digits = (minor < 0n ? -minor : minor).toString().padStart(decimals + 1, '0');
  const sign = minor < 0n ? '-' : '';
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
};

/** As people write it: `15.50 USD`. */
export const shownMoney = ({ minor, currency }: Money): string =>
  `${decimalText(minor, decimalsOf(currency))} ${currency}`;

/** `size` times ten to the power of `scale`, halves rounded up. `size` is not negative. */
const scaled = (size: bigint, scale: number): bigint => {
  if (scale >= 0) return size * 10n ** BigInt(scale);
  const step = 10n ** BigInt(-scale);
  return (size * 2n + step) / (step * 2n);
};
