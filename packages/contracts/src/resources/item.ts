import { z } from 'zod';
import { ItemCurrency, ItemKind, priceDecimals } from '../currencies.ts';
import { Amount, AmountDto, SignedAmount, SignedAmountDto } from '../money.ts';
import { requestText } from './text.ts';

const QUANTITY_MAX = 1_000_000;
const QUANTITY_DECIMALS = 6;
const SMALLEST_QUANTITY = 0.000001;

const SHORTEST_DECIMAL = new RegExp(`^\\d+(\\.\\d{1,${QUANTITY_DECIMALS}})?$`);

/** A quantity in a request. Its shortest decimal form is used in exact arithmetic. */
export const Quantity = z
  .number()
  // Not `positive`: generators of several languages cannot read an exclusive bound of JSON Schema.
  .min(SMALLEST_QUANTITY)
  .max(QUANTITY_MAX)
  .refine((value) => SHORTEST_DECIMAL.test(String(value)), {
    error: `must have at most ${QUANTITY_DECIMALS} decimals`,
  });

/** An item without its modifiers, or a modifier. */
const lineOf = <N extends z.ZodString, Q extends z.ZodNumber, P extends z.ZodString>(
  name: N,
  quantity: Q,
  price: P,
) => ({
  name: name.describe('What is sold.'),
  quantity: quantity.describe('How many: more than 0, with at most 6 decimals.'),
  unit_price: price.describe('The price of one unit.'),
  currency: ItemCurrency.describe(
    'The currency of the price. It is converted into the currency of the order at a locked rate.',
  ),
});

/** The fields of an item that its modifiers do not have, or have without a minus. */
const ofItem = <P extends z.ZodString>(price: P) => ({
  unit_price: price.describe('The price of one unit. Negative for a discount, `-50.00`, and only for a discount.'),
  kind: ItemKind.optional().describe(
    'What the item stands for: `product` (the default), `discount`, `tax` or `shipping`. The payment page shows it. It is part of the total whatever its kind is.',
  ),
});

const modifiersOf = <T extends z.ZodArray>(modifiers: T) =>
  modifiers
    .optional()
    .describe('Additions to the item, such as a side dish. Each counts once per unit of its own quantity.');

const bounded = lineOf(requestText(1, 256), Quantity, AmountDto);

const checkDecimals = (
  { unit_price, currency }: { unit_price: string; currency: ItemCurrency },
  context: z.RefinementCtx,
) => {
  const given = unit_price.split('.')[1]?.length ?? 0;
  const allowed = priceDecimals(currency);
  if (given > allowed)
    context.addIssue({
      code: 'custom',
      path: ['unit_price'],
      message: `${currency} has ${allowed} decimals, this amount has ${given}`,
    });
};

/** A modifier in a request. */
export const ModifierDto = z.strictObject(bounded).superRefine(checkDecimals);

const checkSign = (
  { unit_price, kind }: { unit_price: string; kind?: ItemKind | undefined },
  context: z.RefinementCtx,
) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['unit_price'], message });
  const isNegative = unit_price.startsWith('-');
  if (isNegative && kind !== 'discount')
    refuse('must not be negative: for an amount that lowers the total, give the item "kind": "discount"');
  if (!isNegative && kind === 'discount' && /[1-9]/.test(unit_price))
    refuse(`must be negative, because a discount lowers the total: "-${unit_price}"`);
};

/** An item in a request. */
export const ItemDto = z
  .strictObject({ ...bounded, ...ofItem(SignedAmountDto), modifiers: modifiersOf(z.array(ModifierDto).max(20)) })
  .superRefine(checkDecimals)
  .superRefine(checkSign);

// Orders are shown for ever, so the shapes below have no limits: a limit of requests may be tightened.
const line = lineOf(z.string(), z.number(), Amount);

export const Modifier = z.object(line);
export type Modifier = z.infer<typeof Modifier>;

export const Item = z.object({ ...line, ...ofItem(SignedAmount), modifiers: modifiersOf(z.array(Modifier)) });
export type Item = z.infer<typeof Item>;
