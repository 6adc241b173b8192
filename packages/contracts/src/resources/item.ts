import { z } from 'zod';
import { ItemCurrency, priceDecimals } from '../currencies.ts';
import { Amount, AmountDto } from '../money.ts';
import { requestText } from './text.ts';

const QUANTITY_MAX = 1_000_000;
const QUANTITY_DECIMALS = 6;

const SHORTEST_DECIMAL = new RegExp(`^\\d+(\\.\\d{1,${QUANTITY_DECIMALS}})?$`);

/** A quantity in a request. Its shortest decimal form is used in exact arithmetic. */
export const Quantity = z
  .number()
  .positive()
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

/** An item in a request. */
export const ItemDto = z
  .strictObject({ ...bounded, modifiers: modifiersOf(z.array(ModifierDto).max(20)) })
  .superRefine(checkDecimals);

// Orders are shown for ever, so the shapes below have no limits: a limit of requests may be tightened.
const line = lineOf(z.string(), z.number(), Amount);

export const Modifier = z.object(line);
export type Modifier = z.infer<typeof Modifier>;

export const Item = z.object({ ...line, modifiers: modifiersOf(z.array(Modifier)) });
export type Item = z.infer<typeof Item>;
