import { z } from 'zod';
import { decimalsOf, ItemCurrency } from '../currencies.ts';
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

const bounded = { name: requestText(1, 256), quantity: Quantity, unit_price: AmountDto, currency: ItemCurrency };

const checkDecimals = (
  { unit_price, currency }: { unit_price: string; currency: ItemCurrency },
  context: z.RefinementCtx,
) => {
  const given = unit_price.split('.')[1]?.length ?? 0;
  const allowed = decimalsOf(currency);
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
  .strictObject({ ...bounded, modifiers: z.array(ModifierDto).max(20).optional() })
  .superRefine(checkDecimals);

// Orders are shown for ever, so the shapes below have no limits: a limit of requests may be tightened.
const line = { name: z.string(), quantity: z.number(), unit_price: Amount, currency: ItemCurrency };

export const Modifier = z.object(line);
export type Modifier = z.infer<typeof Modifier>;

export const Item = z.object({ ...line, modifiers: z.array(Modifier).optional() });
export type Item = z.infer<typeof Item>;
