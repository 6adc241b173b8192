import { z } from 'zod';
import { PaymentCurrency } from '../currencies.ts';
import { CreatedAt, OwnerId, PaymentId, RefundId } from '../ids.ts';
import { Amount } from '../money.ts';

/** One refund of a payment, in full or in part. It never changes. */
export const Refund = z.object({
  id: RefundId.describe('The refund: `rfd_` and a ULID.'),
  merchant_id: OwnerId,
  payment_id: PaymentId.describe('The payment that was refunded.'),
  order_id: z.string().describe('The order of the payment, as the payment names it.'),
  amount: Amount.describe('The amount of this refund.'),
  currency: PaymentCurrency.describe('The currency.'),
  reason: z.string().optional().describe('The reason that the request gave.'),
  created_at: CreatedAt,
});
export type Refund = z.infer<typeof Refund>;
