import { z } from 'zod';

/** A list of values of an enum in a request: at least one, each at most once. `one` names a value in the error, such
 *  as `a scope`. The bound refuses a list of thousands of elements before each gets an error of its own. */
export const choicesOf = <E extends z.ZodEnum>(values: E, one: string) =>
  z
    .array(values)
    .min(1)
    .max(values.options.length)
    .refine((choices) => new Set(choices).size === choices.length, { error: `must not repeat ${one}` })
    .meta({ uniqueItems: true });
