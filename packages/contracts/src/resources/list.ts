import { z } from 'zod';

/** One page of a list, sorted by creation time. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item).describe('The items of this page.'),
    limit: z.int().describe('The maximum number of items per page.'),
    count: z.int().describe('The number of items in this page.'),
    total: z.int().describe('The exact number of matching items over all pages, also with filters and dates.'),
    page: z.int().describe('The number of this page; 1 with a `cursor`.'),
    totalPages: z.int().describe('The number of pages; 0 if nothing matches.'),
    next_cursor: z.string().optional().describe('The `cursor` of the next page. Absent on the last page.'),
  });
