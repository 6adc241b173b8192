import { z } from 'zod';
import { ItemCurrency, PaymentCurrency, PaymentRail } from '../currencies.ts';
import { MerchantId, OrderId, Timestamp } from '../ids.ts';
import { Amount } from '../money.ts';
import { Item, ItemDto } from './item.ts';
import { Metadata, MetadataDto } from './metadata.ts';
import { Payment } from './payment.ts';
import { requestText } from './text.ts';

export const OrderStatus = z.enum([
  'initialized',
  'awaiting_payment',
  'partially_paid',
  'paid',
  'reversed',
  'partially_paid_expired',
  'expired',
  'canceled',
]);
export type OrderStatus = z.infer<typeof OrderStatus>;

export const Capabilities = z.object({
  can_cancel: z.boolean(),
  can_update: z.boolean(),
  can_overpay: z.boolean(),
  partial_payments: z.boolean(),
  express_checkout: z.boolean(),
  expiration_auto_renewal: z.boolean(),
});
export type Capabilities = z.infer<typeof Capabilities>;

/** One unit of the item currency is worth `rate` units of the order's payment currency. */
export const Rate = z.object({
  rate: z.string(),
  source: z.string(),
  quoted_at: Timestamp,
  expires_at: Timestamp,
});
export type Rate = z.infer<typeof Rate>;

export const Rates = z.partialRecord(ItemCurrency, Rate);
export type Rates = z.infer<typeof Rates>;

export const CryptoDepositInstruction = z.object({
  rail: z.literal('crypto_deposit'),
  currency: PaymentCurrency,
  network: z.string(),
  chain_id: z.string().describe('CAIP-2'),
  asset: z.string().describe('CAIP-19'),
  asset_label: z
    .string()
    .optional()
    .describe('The name that wallets show for the asset, where it is not the currency: `USDT0`.'),
  address: z.string(),
  amount: Amount,
  amount_units: z.string(),
  decimals: z.int(),
  payment_uri: z
    .string()
    .optional()
    .describe('A BIP21 or EIP-681 URI. Absent when the order takes no more payments, and when nothing is missing.'),
  required_confirmations: z.int(),
  smallest_payable_amount: Amount.optional().describe(
    'The smallest amount that can be paid. A rest below it settles the order, and a surplus below it is not due for refund. Absent if every amount can be paid.',
  ),
  expires_at: Timestamp,
});

export const GatewayPayInstruction = z.object({
  rail: z.literal('gateway_pay'),
  currency: PaymentCurrency,
  amount: Amount,
  provider: z.string(),
  payment_reference: z.string(),
  payment_url: z.string().meta({ format: 'uri' }),
  qr_content: z.string().optional().describe('Absent when the order takes no more payments.'),
  expires_at: Timestamp,
});

export const DepositInstruction = z.discriminatedUnion('rail', [CryptoDepositInstruction, GatewayPayInstruction]);
export type DepositInstruction = z.infer<typeof DepositInstruction>;

export const Order = z.object({
  id: OrderId,
  external_reference_id: z.string(),
  merchant_id: MerchantId,
  items: z.array(Item),
  payments: z.array(Payment),
  status: OrderStatus,
  status_reason: z.string().optional(),
  total_amount: Amount,
  remaining_amount: Amount,
  shortfall_amount: Amount.optional().describe(
    'What is missing of a paid order that was settled with less than its total. The total is the sum of the applied, the missing and the remaining amount. Absent if nothing is missing.',
  ),
  due_back_amount: Amount.optional().describe(
    'What of the order’s currency is to be given back: payments that are orphans, and surplus that is due for refund. A payment in another currency is due as well: see `payments`. Absent if nothing is due.',
  ),
  underpayment_tolerance_percent: z
    .number()
    .optional()
    .describe('The part of the total that may be missing. Absent for none.'),
  currency: PaymentCurrency,
  rates: Rates,
  capabilities: Capabilities,
  deposit_instructions: z.array(DepositInstruction),
  payment_reference: z.string().optional(),
  expiration_date: Timestamp.optional(),
  return_url: z.string().optional(),
  cancel_url: z.string().optional(),
  metadata: Metadata.optional(),
  created_at: Timestamp.optional(),
  updated_at: Timestamp.optional(),
});
export type Order = z.infer<typeof Order>;

export const MIN_EXPIRATION_MINUTES = 5;
export const MAX_EXPIRATION_MINUTES = 43_200;
export const DEFAULT_EXPIRATION_MINUTES = 60;

const ExpirationMinutes = z.int().min(MIN_EXPIRATION_MINUTES).max(MAX_EXPIRATION_MINUTES);

/** A page of the merchant for the payer's browser. The gateway checks its form. */
const PayerUrl = requestText(1, 2048);

export const MAX_TOLERANCE_PERCENT = 5;

/** A part of the total, in hundredths of a percent at most. */
export const TolerancePercent = z
  .number()
  .min(0)
  .max(MAX_TOLERANCE_PERCENT)
  .refine((percent) => Number(percent.toFixed(2)) === percent, { error: 'must have at most 2 decimals' });

export const toleranceBpsOf = (percent: number): number => Math.round(percent * 100);

/** The capabilities in a request. */
export const CapabilitiesDto = z.strictObject(Capabilities.shape);

export const MerchantCreateOrderDto = z.strictObject({
  external_reference_id: requestText(1, 128),
  items: z.array(ItemDto).min(1).max(100),
  enable_rails: z
    .array(PaymentRail)
    .min(1)
    .max(PaymentRail.options.length)
    .refine((rails) => new Set(rails).size === rails.length, { error: 'must not repeat a rail' })
    .meta({ uniqueItems: true }),
  payment_currency: PaymentCurrency,
  capabilities: CapabilitiesDto,
  expiration_minutes: ExpirationMinutes.optional(),
  underpayment_tolerance_percent: TolerancePercent.optional(),
  return_url: PayerUrl.optional(),
  cancel_url: PayerUrl.optional(),
  metadata: MetadataDto.optional(),
});
export type MerchantCreateOrderDto = z.infer<typeof MerchantCreateOrderDto>;

export const UpdateOrderDto = z
  .strictObject({ metadata: MetadataDto.optional(), expiration_minutes: ExpirationMinutes.optional() })
  .refine((body) => body.metadata !== undefined || body.expiration_minutes !== undefined, {
    error: 'must have metadata, expiration_minutes, or both',
  })
  .meta({ minProperties: 1 });
export type UpdateOrderDto = z.infer<typeof UpdateOrderDto>;
