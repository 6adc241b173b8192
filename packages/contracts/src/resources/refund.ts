import { z } from 'zod';
import { withExample } from '../example.ts';
import { PaymentCurrency } from '../currencies.ts';
import { CreatedAt, EXAMPLE_IDS, OwnerId, PaymentId, RefundId } from '../ids.ts';
import { Amount } from '../money.ts';

/** One refund of a payment, in full or in part. It never changes. */
export const Refund = withExample(
  z.object({
    id: RefundId.describe('The refund: `rfd_` and a ULID.'),
    merchant_id: OwnerId,
    payment_id: PaymentId.describe('The payment that was refunded.'),
    order_id: z.string().describe('The order of the payment, as the payment names it.'),
    amount: Amount.describe('The amount of this refund.'),
    currency: PaymentCurrency.describe('The currency.'),
    reason: z.string().optional().describe('The reason that the request gave.'),
    created_at: CreatedAt,
  }),
  {
    id: EXAMPLE_IDS.refund,
    merchant_id: EXAMPLE_IDS.merchant,
    payment_id: EXAMPLE_IDS.payment,
    order_id: EXAMPLE_IDS.order,
    amount: '10.500000',
    currency: 'USDC',
    reason: 'one dish was not served',
    created_at: '2026-01-31T15:20:00.000Z',
  },
);
export type Refund = z.infer<typeof Refund>;
