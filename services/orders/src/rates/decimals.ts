import { add, type Decimal, parseDecimal } from '@cpg/contracts';
import { crossRate } from '../order/pricing.ts';

const ONE: Decimal = { units: 1n, scale: 0 };

/** Parses the price of a source. Null unless it is a plain positive decimal number. */
export const positive = (text: unknown): Decimal | null => {
  if (typeof text !== 'string' || !/^\d{1,30}(\.\d{1,30})?$/.test(text)) return null;
  const value = parseDecimal(text);
  return value.units > 0n ? value : null;
};

/** a / b and 1 / a, to 18 decimals. */
export const divide = (a: Decimal, b: Decimal): Decimal => parseDecimal(crossRate(a, b));
export const invert = (a: Decimal): Decimal => divide(ONE, a);

export const compare = (a: Decimal, b: Decimal): number => {
  const scale = Math.max(a.scale, b.scale);
  const difference = a.units * 10n ** BigInt(scale - a.scale) - b.units * 10n ** BigInt(scale - b.scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
};

const half = ({ units, scale }: Decimal): Decimal => ({ units: units * 5n, scale: scale + 1 });

/** The middle value, or the mean of the two middle values. Throws RangeError for an empty list. */
export const median = (values: readonly Decimal[]): Decimal => {
  const sorted = [...values].sort(compare);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  if (!low || !high) throw new RangeError('no values');
  return half(add(low, high));
};

/** Whether `value` differs from `from` by at most `percent` percent. */
export const isNear = (value: Decimal, from: Decimal, percent: number): boolean => {
  const scale = Math.max(value.scale, from.scale);
  const [a, b] = [value, from].map(({ units, scale: own }) => units * 10n ** BigInt(scale - own)) as [bigint, bigint];
  const distance = a > b ? a - b : b - a;
  return distance * 100n <= b * BigInt(percent);
};
