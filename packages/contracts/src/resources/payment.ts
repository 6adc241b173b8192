import { z } from 'zod';
import { PaymentCurrency, PaymentRail } from '../currencies.ts';
import { MerchantId, PaymentId, Timestamp } from '../ids.ts';
import { Amount } from '../money.ts';
import { Metadata } from './metadata.ts';

export const PaymentStatus = z.enum(['received', 'applied', 'orphan', 'failed', 'refunded']);
export type PaymentStatus = z.infer<typeof PaymentStatus>;

export const OrphanReason = z.enum([
  'already_paid',
  'canceled',
  'late',
  'insufficient',
  'wrong_currency',
  'wrong_network',
  'before_order',
  'unknown_order',
  'unknown_address',
  'too_many_payments',
]);
export type OrphanReason = z.infer<typeof OrphanReason>;

/** A block of a chain. */
export const BlockRef = z.object({
  height: z.int().nonnegative().describe('The number of blocks before it in its chain.'),
  hash: z.string().min(1).max(128).describe('Identifies the block.'),
});
export type BlockRef = z.infer<typeof BlockRef>;

export const Payment = z.object({
  id: PaymentId,
  merchant_id: MerchantId,
  order_id: z
    .string()
    .describe(
      'The order that the payer named. For an orphan it may be an unknown order, or the deposit address if that address belongs to no order.',
    ),
  status: PaymentStatus,
  payment_rail: PaymentRail,
  provider_id: z.string(),
  paid_amount: Amount,
  fee_amount: Amount,
  net_amount: Amount,
  currency: PaymentCurrency,
  asset: z.string().optional().describe('The coin or token that arrived (CAIP-19), where a chain shows it.'),
  asset_label: z
    .string()
    .optional()
    .describe('The name that wallets show for the asset, where it is not the currency: `USDC.e`.'),
  credited: z
    .boolean()
    .optional()
    .describe(
      '`false` for a token that does not count as the currency: the payment becomes an orphan with the reason `wrong_currency`, and the token is due for refund.',
    ),
  metadata: Metadata.optional(),
  applied_amount: Amount.optional().describe(
    'The part that is applied to the order. Zero unless the payment is `applied`.',
  ),
  unapplied_amount: Amount.optional().describe(
    'The surplus that the order does not need. It is due for refund, unless it is below `smallest_payable_amount` of the order.',
  ),
  refunded_amount: Amount.optional().describe('The total of all refunds of the payment.'),
  orphan_reason: OrphanReason.optional(),
  failure_reason: z.string().optional(),
  tx_hash: z.string().optional(),
  confirmations: z.int().optional(),
  block: BlockRef.optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Payment = z.infer<typeof Payment>;
