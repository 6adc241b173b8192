import { z } from 'zod';

/** A comma-separated list with at least one entry. */
export const CommaSeparatedList = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .refine((parts) => parts.length > 0, { error: 'needs at least one entry' });
