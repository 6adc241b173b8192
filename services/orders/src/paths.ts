import { z } from 'zod';

export const OrderPath = z.object({ id: z.string() });
export const OrderPaymentPath = z.object({ id: z.string(), payment_id: z.string() });
export const MerchantPath = z.object({ id: z.string() });
