import { z } from 'zod';

const wholeNumber = (max: number, ordinary: number) => {
  const error = `must be a whole number from 1 to ${max}`;
  return z
    .preprocess(
      (text) => (typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : text),
      z.int({ error }).min(1, { error }).max(max, { error }),
    )
    .default(ordinary);
};

export const Instant = z.iso
  .datetime({ offset: true, error: 'must be ISO 8601 with a timezone, like 2026-01-31T12:00:00Z (write + as %2B)' })
  .transform((text) => new Date(text));

/** The query parameters of every list. */
export const ListQuery = z.strictObject({
  page: wholeNumber(1000, 1).describe('Which page, from 1. One past the end is empty.'),
  limit: wholeNumber(100, 10).describe('Items per page.'),
  sort: z.enum(['asc', 'desc']).default('desc').describe('By creation time: `asc` is oldest first.'),
  from_date: Instant.optional().describe('Created at or after this instant.'),
  to_date: Instant.optional().describe('Created at or before this instant.'),
});
export type ListQuery = z.infer<typeof ListQuery>;
