/** Amounts are decimal strings, as in the API. Nothing here turns one into a floating-point number, but `pixels`. */

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

interface Separators {
  readonly group: string;
  readonly decimal: string;
}

const separatorsOf = (locale: string | undefined): Separators => {
  const parts = new Intl.NumberFormat(locale, { useGrouping: true }).formatToParts(1_234_567.5);
  const of = (type: string, other: string) => parts.find((part) => part.type === type)?.value ?? other;
  return { group: of('group', ','), decimal: of('decimal', '.') };
};

const MIN_DECIMALS = 2;

/** The amount with groups of thousands and without zeros at its end, two decimals at least: `1,234.50`. The value is
 *  never rounded. Other text comes back as it is. */
export const formatAmount = (amount: string, locale?: string): string => {
  const match = DECIMAL.exec(amount);
  if (!match) return amount;
  const [, sign = '', whole = '0', fraction = ''] = match;
  const { group, decimal } = separatorsOf(locale);
  const digits = fraction.length <= MIN_DECIMALS ? fraction : withoutZeros(fraction);
  return `${sign}${grouped(whole, group)}${digits === '' ? '' : `${decimal}${digits}`}`;
};

const grouped = (digits: string, separator: string): string => {
  const groups: string[] = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  return groups.join(separator);
};

const withoutZeros = (fraction: string): string => {
  let end = fraction.length;
  while (end > MIN_DECIMALS && fraction[end - 1] === '0') end -= 1;
  return fraction.slice(0, end);
};

export const isAmount = (text: string): boolean => DECIMAL.test(text);

/** Below zero if `one` is less than `other`, and zero if they are equal. */
export const compareAmounts = (one: string, other: string): number => {
  const [a, b] = scaled(one, other);
  return a < b ? -1 : a > b ? 1 : 0;
};

export const isZero = (amount: string): boolean => compareAmounts(amount, '0') === 0;

export const addAmounts = (one: string, other: string): string => {
  const [a, b, decimals] = scaled(one, other);
  return unscaled(a + b, decimals);
};

export const subtractAmounts = (one: string, other: string): string => {
  const [a, b, decimals] = scaled(one, other);
  return unscaled(a - b, decimals);
};

/** The length of a bar in a chart, for nothing but drawing. */
export const pixels = (amount: string): number => Number(amount);

const scaled = (one: string, other: string): [bigint, bigint, number] => {
  const decimals = Math.max(decimalsOf(one), decimalsOf(other));
  return [units(one, decimals), units(other, decimals), decimals];
};

const decimalsOf = (amount: string): number => DECIMAL.exec(amount)?.[3]?.length ?? 0;

const units = (amount: string, decimals: number): bigint => {
  const match = DECIMAL.exec(amount);
  if (!match) throw new RangeError(`not an amount: ${amount}`);
  const [, sign = '', whole = '0', fraction = ''] = match;
  return BigInt(`${sign}${whole}${fraction.padEnd(decimals, '0')}`);
};

const unscaled = (value: bigint, decimals: number): string => {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const sign = value < 0n ? '-' : '';
  return decimals === 0 ? `${sign}${whole}` : `${sign}${whole}.${digits.slice(-decimals)}`;
};
