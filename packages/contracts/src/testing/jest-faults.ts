import type { z } from 'zod';

/** The faults that a schema finds in a value, as `path: message`. */
export const faultsIn = (schema: z.ZodType, value: unknown): string[] =>
  (schema.safeParse(value).error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
