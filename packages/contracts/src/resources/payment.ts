import { z } from 'zod';
import { withExample } from '../example.ts';
import { PaymentCurrency, PaymentRail } from '../currencies.ts';
import { CreatedAt, EXAMPLE_IDS, OwnerId, PaymentId, Timestamp, UpdatedAt } from '../ids.ts';
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

export const Payment = withExample(
  z.object({
    id: PaymentId.describe('The payment: `pay_` and a ULID.'),
    merchant_id: OwnerId,
    order_id: z
      .string()
      .describe(
        'The order that the payer named. For an orphan it may be an unknown order, or the deposit address if that address belongs to no order.',
      ),
    status: PaymentStatus.describe('The state of the payment.'),
    payment_rail: PaymentRail.describe('How it was paid.'),
    provider_id: z
      .string()
      .describe(
        'What identifies the money at its source: a transaction and its output on a chain, or the id at the provider.',
      ),
    paid_amount: Amount.describe('The amount that was paid.'),
    fee_amount: Amount.describe('The fee of the gateway.'),
    net_amount: Amount.describe('`paid_amount` without `fee_amount`.'),
    currency: PaymentCurrency.describe('The currency.'),
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
    metadata: Metadata.optional().describe('Your own data. It is stored and returned.'),
    applied_amount: Amount.optional().describe(
      'The part that is applied to the order. Zero unless the payment is `applied`.',
    ),
    unapplied_amount: Amount.optional().describe(
      'The surplus that the order does not need. It is due for refund, unless it is below `smallest_payable_amount` of the order.',
    ),
    refunded_amount: Amount.optional().describe('The total of all refunds of the payment.'),
    reserved_amount: Amount.optional().describe(
      'What refunds with `settle: "on_chain"` reserve while they are `pending` or `sent`. Another refund can take at most `paid_amount` without `refunded_amount` and this. Absent if nothing is reserved, and in `payments` of an order. A change of it leaves `updated_at` as it was.',
    ),
    due_back_amount: Amount.optional().describe(
      'What of the payment is to be given back: all that is left of an `orphan`, or the surplus of an `applied` payment that is due for refund. It counts a refund that waits for its transfer until that is settled. Absent if nothing is due.',
    ),
    orphan_reason: OrphanReason.optional().describe(
      'Why the payment does not count by itself. Present only if it is an `orphan`. `insufficient`: it came in time, and was too little for an order that takes no partial payments. `before_order`: it is older on its chain than the address of the order. `wrong_network`: it is on a network, or from a provider, that the order does not show.',
    ),
    failure_reason: z
      .string()
      .optional()
      .describe(
        'Why the rail dropped or reversed the payment. On a chain: `dropped` (never mined), `reorg` (its block left the chain), `double_spend` (its coins were spent elsewhere), `replaced` (the payer sent it anew, for example with a higher fee: the replacement is a payment of its own), `misread` (a node had shown it wrong).',
      ),
    tx_hash: z.string().optional().describe('The transaction on the chain.'),
    confirmations: z
      .int()
      .optional()
      .describe(
        'The number of blocks from the payment to the newest one at the last change of the payment: when it arrived, was confirmed, or changed its block. It does not grow with later blocks: compare `block.height` with the newest block of the chain.',
      ),
    block: BlockRef.optional().describe(
      'The block of the chain that contains the payment. Absent before it is mined, and on `gateway_pay`.',
    ),
    applied_at: Timestamp.optional().describe(
      'When its order applied it: the last time, if the order later took more of it. It stays when the payment is refunded. Absent unless it is `applied`, or became `refunded` while it was.',
    ),
    refunded_at: Timestamp.optional().describe(
      'When all of it was refunded, so that it became `refunded`. A partial refund does not set it: `GET /v1/refunds` has the time of each refund.',
    ),
    failed_at: Timestamp.optional().describe(
      'When its rail dropped or reversed it. Absent unless it is `failed`: also once the rail sees its money again.',
    ),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  }),
  {
    id: EXAMPLE_IDS.payment,
    merchant_id: EXAMPLE_IDS.merchant,
    order_id: EXAMPLE_IDS.order,
    status: 'applied',
    payment_rail: 'crypto_deposit',
    provider_id: 'eip155:8453/0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060:3',
    paid_amount: '52.472200',
    fee_amount: '0.524722',
    net_amount: '51.947478',
    currency: 'USDC',
    asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    applied_amount: '52.472200',
    unapplied_amount: '0.000000',
    refunded_amount: '0.000000',
    applied_at: '2026-01-31T12:04:34.000Z',
    created_at: '2026-01-31T12:04:10.000Z',
    updated_at: '2026-01-31T12:04:34.000Z',
  },
);
export type Payment = z.infer<typeof Payment>;
