import { z } from 'zod';

/** One page of a list, sorted by creation time. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    limit: z.int(),
    count: z.int(),
    total: z.int(),
    page: z.int(),
    totalPages: z.int(),
    next_cursor: z.string().optional(),
  });
