import { z } from 'zod';
import { withExample } from '../example.ts';
import { PaymentCurrency } from '../currencies.ts';
import { CreatedAt, EXAMPLE_IDS, OwnerId, PaymentId, RefundId } from '../ids.ts';
import { Amount } from '../money.ts';

/** Which part of a payment to refund, instead of an amount. */
export const RefundPart = z.enum(['surplus', 'all']);
export type RefundPart = z.infer<typeof RefundPart>;

/** What is known about the money of a refund. More values may come. */
export const RefundStatus = z.enum(['recorded']);
export type RefundStatus = z.infer<typeof RefundStatus>;

/** One refund of a payment, in full or in part: the record that the merchant paid the money back. */
export const Refund = withExample(
  z.object({
    id: RefundId.describe('The refund: `rfd_` and a ULID.'),
    merchant_id: OwnerId,
    payment_id: PaymentId.describe('The payment that was refunded.'),
    order_id: z.string().describe('The order of the payment, as the payment names it.'),
    status: RefundStatus.describe(
      '`recorded`: you recorded that you paid the money back; the gateway moved none. More values may come: treat one that you do not know as `recorded`.',
    ),
    amount: Amount.describe('The amount of this refund.'),
    currency: PaymentCurrency.describe('The currency.'),
    reason: z.string().optional().describe('The reason that the request gave.'),
    tx_hash: z
      .string()
      .optional()
      .describe(
        'The transaction that paid the money back, if the request gave it. Without `network`, the id at the provider.',
      ),
    network: z
      .string()
      .optional()
      .describe(
        'The network on which the money went back. Present if the request gave it, or gave `tx_hash` or `destination` for a payment that a chain shows.',
      ),
    destination: z
      .string()
      .optional()
      .describe('Where the money went, if the request gave it: an address on `network`; without `network`, your text.'),
    created_at: CreatedAt,
  }),
  {
    id: EXAMPLE_IDS.refund,
    merchant_id: EXAMPLE_IDS.merchant,
    payment_id: EXAMPLE_IDS.payment,
    order_id: EXAMPLE_IDS.order,
    status: 'recorded',
    amount: '10.500000',
    currency: 'USDC',
    reason: 'one dish was not served',
    tx_hash: '0x9fc76417374aa880d4449a1f7f31ec597f00b1f6f3dd2d66f4c9c6c445836d8b',
    network: 'base',
    destination: '0x52908400098527886E0F7030069857D2E4169EE7',
    created_at: '2026-01-31T15:20:00.000Z',
  },
);
export type Refund = z.infer<typeof Refund>;
