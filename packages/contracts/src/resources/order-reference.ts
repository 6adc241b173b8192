import { z } from 'zod';
import { Metadata } from './metadata.ts';

/** How a merchant knows an order: by its own reference and its own data. */
export const OrderReference = z.object({
  external_reference_id: z.string().describe('Your reference of the order.'),
  metadata: Metadata.optional().describe('The metadata of the order. Absent if it had none.'),
});
export type OrderReference = z.infer<typeof OrderReference>;
