import type { ItemDto, ItemKind } from '@cpg/sdk';
import { decimalsOf, decimalText, type Money } from './amount.ts';

/** A line of a cart with what it adds to the total, all units together. A discount is negative. */
export interface CartLine {
  readonly name: string;
  readonly minor: bigint;
  /** 1 without it. */
  readonly quantity?: number;
  /** `product` without it. A negative line is a discount, whatever it says. */
  readonly kind?: ItemKind;
}

/** Why a cart cannot be an order of the gateway. */
export type CartFault = 'nothing_to_pay';

const MOST_ITEMS = 100;
const LONGEST_NAME = 200;

/** The items of an order, whose sum is exactly `total`. If the lines do not add up to it, because the shop rounds the
 *  sum or has charges that are no lines, one more item has the difference. */
export const itemsOf = (lines: readonly CartLine[], total: Money): ItemDto[] | CartFault => {
  if (total.minor <= 0n) return 'nothing_to_pay';
  const counted = merged(lines.filter((line) => line.minor !== 0n || isProduct(line)));
  const difference = total.minor - sumOf(counted);
  if (difference !== 0n)
    counted.push({ name: difference > 0n ? 'Other charges' : 'Other discounts', minor: difference });
  return counted.map((line) => itemOf(line, total.currency));
};

const isProduct = ({ kind = 'product' }: CartLine) => kind === 'product';

const sumOf = (lines: readonly CartLine[]): bigint => lines.reduce((sum, { minor }) => sum + minor, 0n);

/** At most as many lines as an order takes, with one free for the difference. */
const merged = (lines: readonly CartLine[]): CartLine[] => {
  if (lines.length < MOST_ITEMS) return [...lines];
  const kept = lines.slice(0, MOST_ITEMS - 2);
  const rest = lines.slice(MOST_ITEMS - 2);
  return [...kept, { name: `${rest.length} more lines`, minor: sumOf(rest) }];
};

const itemOf = ({ name, minor, quantity = 1, kind = 'product' }: CartLine, currency: Money['currency']): ItemDto => {
  const decimals = decimalsOf(currency);
  // A line that its quantity does not divide is one unit: 3 for 10.00 are not 3 times 3.33.
  const isDivisible = Number.isSafeInteger(quantity) && quantity > 0 && quantity <= 1_000_000 && minor >= 0n;
  const units = isDivisible && minor % BigInt(quantity) === 0n ? quantity : 1;
  const label = textOf(units === quantity ? name : `${quantity} × ${name}`);
  return {
    name: label === '' ? 'Item' : label,
    quantity: units,
    unit_price: decimalText(minor / BigInt(units), decimals),
    currency,
    kind: kindOf(minor, kind),
  };
};

const kindOf = (minor: bigint, kind: ItemKind): ItemKind => {
  if (minor < 0n) return 'discount';
  return kind === 'discount' ? 'product' : kind;
};

/** Text that the API takes: no NUL, not too long for a payment page. */
const textOf = (name: string): string => [...name.replaceAll('\0', '').trim()].slice(0, LONGEST_NAME).join('');
