import { z } from 'zod';

const wholeNumber = (max: number, defaultValue: number) => {
  const error = `must be a whole number from 1 to ${max}`;
  return z
    .preprocess(
      (text) => (typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : text),
      z.int({ error }).min(1, { error }).max(max, { error }),
    )
    .default(defaultValue);
};

export const Instant = z.iso
  .datetime({ offset: true, error: 'must be ISO 8601 with a timezone, like 2026-01-31T12:00:00Z (write + as %2B)' })
  .transform((text) => new Date(text));

/** The query parameters that all lists have. */
export const ListQuery = z.strictObject({
  page: wholeNumber(1000, 1).describe('Page number, starting at 1. A page past the end is empty.'),
  limit: wholeNumber(100, 10).describe('Maximum number of items per page.'),
  sort: z
    .enum(['asc', 'desc'])
    .default('desc')
    .describe('Sort order by creation time: `asc` is oldest first, `desc` is newest first.'),
  from_date: Instant.optional().describe('Only items created at or after this time.'),
  to_date: Instant.optional().describe('Only items created at or before this time.'),
});
export type ListQuery = z.infer<typeof ListQuery>;
