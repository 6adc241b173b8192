import { z } from 'zod';
import { invalidRequest } from './errors/errors.ts';

/** A decimal amount in a resource. A chain can report an amount of any size, so its whole part has no limit. */
export const Amount = z
  .string()
  .regex(/^(0|[1-9]\d*)(\.\d{1,18})?$/, { error: 'must be a decimal string like "12.50"' });

/** A decimal amount in a request: no sign, exponent, spaces or leading zeros; at most 18 digits before and after the
 *  point. */
export const AmountDto = z.string().regex(/^(0|[1-9]\d{0,17})(\.\d{1,18})?$/, {
  error:
    'must be a decimal string like "12.50": no sign, exponent, commas, spaces or leading zeros, at most 18 digits before and 18 after the point',
});

/** An amount in a resource that may be below zero, such as the price of a discount. */
export const SignedAmount = z
  .string()
  .regex(/^-?(0|[1-9]\d*)(\.\d{1,18})?$/, { error: 'must be a decimal string like "12.50" or "-12.50"' });

/** A price in a request. */
export const SignedAmountDto = z.string().regex(/^-?(0|[1-9]\d{0,17})(\.\d{1,18})?$/, {
  error:
    'must be a decimal string like "12.50", or "-12.50" for a discount: no exponent, commas, spaces or leading zeros, at most 18 digits before and 18 after the point',
});

/** Minor units (satoshi, wei, cents) in events: the decimal digits of a non-negative bigint. */
export const Minor = z.string().regex(/^(0|[1-9]\d*)$/, { error: 'must be a whole number of minor units' });

export const Decimals = z
  .int()
  .min(0)
  .max(18)
  .describe('The decimals of the amounts in minor units: 10000000 with 6 decimals is 10.');

/** The largest amount that a request may have in a currency with these decimals, in minor units. */
export const maxMinor = (decimals: number): bigint => 10n ** BigInt(18 + decimals) - 1n;

/** An exact decimal number: `units / 10^scale`. */
export interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

export const ZERO: Decimal = { units: 0n, scale: 0 };

/** Parses a decimal string of any length. Throws RangeError unless it consists of digits with an optional fraction. */
export const parseDecimal = (text: string): Decimal => {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text);
  if (!match) throw new RangeError(`not a decimal number: ${JSON.stringify(text)}`);
  const fraction = match[2] ?? '';
  return { units: BigInt(match[1] + fraction), scale: fraction.length };
};

/** Parses a decimal string that may have a minus. Throws RangeError like `parseDecimal`. */
export const parseSigned = (text: string): Decimal => {
  const { units, scale } = parseDecimal(text.replace(/^-/, ''));
  return { units: text.startsWith('-') ? -units : units, scale };
};

export const add = (a: Decimal, b: Decimal): Decimal => {
  const scale = Math.max(a.scale, b.scale);
  return { units: widen(a, scale) + widen(b, scale), scale };
};

export const multiply = (a: Decimal, b: Decimal): Decimal => ({ units: a.units * b.units, scale: a.scale + b.scale });

/** Formats a decimal number with all its decimals, zeros too. */
export const formatDecimal = ({ units, scale }: Decimal): string => {
  if (units < 0n) return `-${formatDecimal({ units: -units, scale })}`;
  if (scale === 0) return units.toString();
  const digits = units.toString().padStart(scale + 1, '0');
  return `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
};

/** Formats a decimal number exactly, with at least this many decimals and no further zeros. */
export const formatAtLeast = (value: Decimal, decimals: number): string => {
  const { units, scale } = value;
  if (scale <= decimals) return formatDecimal({ units: widen(value, decimals), scale: decimals });
  return units % 10n === 0n ? formatAtLeast({ units: units / 10n, scale: scale - 1 }, decimals) : formatDecimal(value);
};

/** Converts to minor units of a currency with these decimals, rounded up. The value is at least 0. */
export const toMinorRoundedUp = (value: Decimal, decimals: number): bigint =>
  value.scale <= decimals ? widen(value, decimals) : divideUp(value.units, 10n ** BigInt(value.scale - decimals));

/** Parses an amount into minor units of a currency with these decimals. Throws RangeError for more decimals; it never
 *  rounds. */
export const toMinor = (text: string, decimals: number): bigint => {
  const value = parseDecimal(text);
  if (value.scale > decimals)
    throw new RangeError(`the currency has ${decimals} decimals, ${JSON.stringify(text)} has ${value.scale}`);
  return widen(value, decimals);
};

/** Parses the field `path` of a request, which has the form of AmountDto, into minor units of its currency. Throws
 *  `invalid_request` that names the field for more decimals than the currency has. */
export const parseAmount = (
  text: string,
  { currency, decimals, path = 'amount' }: { currency: string; decimals: number; path?: string },
): bigint => {
  const { scale } = parseDecimal(text);
  if (scale > decimals)
    throw invalidRequest([
      { path, message: `${currency} has ${decimals} decimals, ${JSON.stringify(text)} has ${scale}` },
    ]);
  return toMinor(text, decimals);
};

/** Parses the field `amount` of a request into minor units of its currency. Throws `invalid_request` that names the
 *  field for zero and for more decimals than the currency has. */
export const parsePositiveAmount = (
  { amount, currency }: { amount: string; currency: string },
  decimals: number,
): bigint => {
  const minor = parseAmount(amount, { currency, decimals });
  if (minor === 0n) throw invalidRequest([{ path: 'amount', message: 'must be positive' }]);
  return minor;
};

/** Formats minor units of a currency with these decimals as the API shows them, with all decimals. */
export const fromMinor = (minor: bigint, decimals: number): string => formatDecimal({ units: minor, scale: decimals });

/** The decimals of the currency of an amount that the API shows. */
export const decimalsIn = (amount: string): number => parseDecimal(amount).scale;

/** Units on a chain that pay `minor` units of a currency with `scale` decimals, where the asset has `decimals`: BNB
 *  chain's USDC has 18 decimals, and USDC amounts have 6. Exact unless the asset has fewer decimals than the currency;
 *  then rounded up, so that the units cover the amount. */
export const toUnits = (minor: bigint, { scale, decimals }: UnitScales): bigint =>
  decimals >= scale ? minor * 10n ** BigInt(decimals - scale) : divideUp(minor, 10n ** BigInt(scale - decimals));

/** Minor units that a transfer of `units` on a chain is worth, rounded down, and the rest of the units as `dust`. The
 *  dust is less than one minor unit. `toUnits(minor)` and the dust add up to `units`. */
export const fromUnits = (units: bigint, { scale, decimals }: UnitScales): { minor: bigint; dust: bigint } => {
  if (decimals < scale) return { minor: units * 10n ** BigInt(scale - decimals), dust: 0n };
  const unitsPerMinor = 10n ** BigInt(decimals - scale);
  return { minor: units / unitsPerMinor, dust: units % unitsPerMinor };
};

export interface UnitScales {
  /** Decimals of the currency: of its amounts and minor units. */
  readonly scale: number;
  /** Decimals of the asset on its chain. */
  readonly decimals: number;
}

/** a / b, rounded up. a >= 0, b > 0. */
export const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** a / b, rounded half to even. a >= 0, b > 0. */
export const divideHalfEven = (a: bigint, b: bigint): bigint => {
  const quotient = a / b;
  const twice = (a % b) * 2n;
  if (twice < b || (twice === b && quotient % 2n === 0n)) return quotient;
  return quotient + 1n;
};

const widen = (value: Decimal, scale: number): bigint => value.units * 10n ** BigInt(scale - value.scale);
