import { divideUp, maxMinor, parseDecimal } from '@cpg/contracts';

export interface LimitedPrice {
  /** Units of the payment currency for one unit of the price currency. */
  readonly rate: string;
  /** Decimals of prices. */
  readonly priceDecimals: number;
  /** Decimals of the payment currency. */
  readonly decimals: number;
  /** Totals are multiples of it. */
  readonly stepMinor: bigint;
  /** The smallest total that can be paid. */
  readonly smallestMinor: bigint;
}

/** The smallest and the largest sum of prices, in minor units of the price currency, whose total `price` accepts and a
 *  rail can take. Null if there is none. */
export const priceLimits = ({
  rate,
  priceDecimals,
  decimals,
  stepMinor,
  smallestMinor,
}: LimitedPrice): { minimum: bigint; maximum: bigint } | null => {
  const { units, scale } = parseDecimal(rate);
  // A sum of n minor units is n * numerator / denominator minor units of the payment currency, before it is rounded up.
  const numerator = units * 10n ** BigInt(decimals);
  const denominator = 10n ** BigInt(scale + priceDecimals);
  // The smallest step that can be paid: everything above the step below it is rounded up to it.
  const steps = divideUp(smallestMinor > 0n ? smallestMinor : 1n, stepMinor);
  const minimum = ((steps - 1n) * stepMinor * denominator) / numerator + 1n;
  const largest = (maxMinor(decimals) / stepMinor) * stepMinor;
  const maximum = (largest * denominator) / numerator;
  return minimum <= maximum ? { minimum, maximum } : null;
};
