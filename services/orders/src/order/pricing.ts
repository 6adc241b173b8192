import {
  add,
  type AppError,
  type Decimal,
  divideHalfEven,
  divideUp,
  formatAtLeast,
  formatDecimal,
  invalidRequest,
  type Item,
  type ItemCurrency,
  type ItemTotals,
  maxMinor,
  multiply,
  parseDecimal,
  parseSigned,
  priceDecimals,
  type Rates,
  toMinorRoundedUp,
  ZERO,
} from '@cpg/contracts';

/** The exact sums of items and their modifiers (`quantity * unit_price`; the quantity of a modifier is its own), by
 *  currency. */
export type Sums = ReadonlyMap<ItemCurrency, Decimal>;

export const sumsOf = (items: readonly Item[]): Sums => {
  const sums = new Map<ItemCurrency, Decimal>();
  for (const line of items.flatMap((item) => [item, ...(item.modifiers ?? [])]))
    sums.set(line.currency, add(sums.get(line.currency) ?? ZERO, cost(line)));
  return sums;
};

/** Throws `invalid_request` for a currency in which the discounts exceed the rest. With no sum below zero, no change of
 *  the rates can bring the total there. */
export const refuseNegativeSums = (sums: Sums): void => {
  for (const [currency, sum] of sums)
    if (sum.units < 0n)
      throw refused(
        `the items in ${currency} add up to ${formatAtLeast(sum, priceDecimals(currency))}: lower the discounts in ${currency}, or give them in the currency of what they lower, so that the sum is at least 0`,
      );
};

/** The sums as resources show them: exact, with at least the decimals of their currencies. */
export const itemTotals = (items: readonly Item[]): ItemTotals =>
  Object.fromEntries(
    [...sumsOf(items)].map(([currency, sum]) => [currency, formatAtLeast(sum, priceDecimals(currency))]),
  );

/** The price of an order in minor units with `decimals`: the sums, converted with the locked rates and rounded up once,
 *  to a multiple of `stepMinor`. Throws `invalid_request` for a total of zero, and for a total with more than 18 digits
 *  before the point. `rates` must have a rate for every currency of the sums. */
export const price = (sums: Sums, rates: Rates, decimals: number, stepMinor = 1n): bigint => {
  const total = [...sums].map(([currency, sum]) => multiply(sum, rateOf(rates, currency))).reduce(add, ZERO);
  const minor = roundedUp(toMinorRoundedUp(total, decimals), stepMinor);
  if (minor === 0n)
    throw refused('the total of the order must be more than 0: create no order where nothing is to be paid');
  if (minor > maxMinor(decimals)) throw refused('the total of the order has more than 18 digits before the point');
  return minor;
};

/** The next multiple of `stepMinor`. */
export const roundedUp = (minor: bigint, stepMinor: bigint): bigint => divideUp(minor, stepMinor) * stepMinor;

const cost = ({ quantity, unit_price }: { quantity: number; unit_price: string }): Decimal =>
  multiply(parseDecimal(String(quantity)), parseSigned(unit_price));

const rateOf = (rates: Rates, currency: ItemCurrency): Decimal => {
  const rate = rates[currency];
  if (!rate) throw new Error(`no rate was locked for ${currency}`);
  return parseDecimal(rate.rate);
};

const RATE_DECIMALS = 18;

/** base / quote as a decimal string: 18 decimals, rounded half to even, without trailing zeros. Both are positive.
 *  Throws RangeError if the result is zero, because a rate is never zero. */
export const crossRate = (base: Decimal, quote: Decimal): string => {
  const numerator = base.units * 10n ** BigInt(quote.scale + RATE_DECIMALS);
  const denominator = quote.units * 10n ** BigInt(base.scale);
  const units = divideHalfEven(numerator, denominator);
  if (units === 0n) throw new RangeError('the rate has no non-zero digit within 18 decimals');
  return formatDecimal({ units, scale: RATE_DECIMALS })
    .replace(/(?<!0)0+$/, '')
    .replace(/\.$/, '');
};

const refused = (message: string): AppError => invalidRequest([{ path: 'items', message }]);

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
