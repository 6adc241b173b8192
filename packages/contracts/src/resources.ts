import { z } from 'zod';
import { decimalsOf, ItemCurrency, PaymentCurrency, PaymentRail } from './currencies.ts';
import { DeliveryId, EventId, MerchantId, OrderId, PaymentId, Timestamp, WebhookId } from './ids.ts';
import { Amount } from './money.ts';

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

export const PaymentStatus = z.enum(['received', 'applied', 'orphan', 'failed', 'refunded']);
export type PaymentStatus = z.infer<typeof PaymentStatus>;

export const OrphanReason = z.enum([
  'already_paid',
  'canceled',
  'late',
  'wrong_currency',
  'unknown_order',
  'unknown_address',
  'too_many_payments',
]);
export type OrphanReason = z.infer<typeof OrphanReason>;

export const METADATA_MAX_BYTES = 16 * 1024;

export const Metadata = z
  .record(z.string(), z.json())
  .refine((value) => Buffer.byteLength(JSON.stringify(value)) <= METADATA_MAX_BYTES, {
    error: 'must be at most 16 KiB as JSON',
  });
export type Metadata = z.infer<typeof Metadata>;

const QUANTITY_MAX = 1_000_000;
const QUANTITY_DECIMALS = 6;

/** How many: the number's shortest decimal form is what is computed with, exactly. */
export const Quantity = z
  .number()
  .positive()
  .max(QUANTITY_MAX)
  .refine((value) => new RegExp(`^\\d+(\\.\\d{1,${QUANTITY_DECIMALS}})?$`).test(String(value)), {
    error: `must have at most ${QUANTITY_DECIMALS} decimals`,
  });

const line = { name: z.string().min(1).max(256), quantity: Quantity, unit_price: Amount, currency: ItemCurrency };

const checkDecimals = (
  { unit_price, currency }: { unit_price: string; currency: ItemCurrency },
  context: z.RefinementCtx,
) => {
  const given = unit_price.split('.')[1]?.length ?? 0;
  const most = decimalsOf(currency);
  if (given > most)
    context.addIssue({
      code: 'custom',
      path: ['unit_price'],
      message: `${currency} has ${most} decimals, this has ${given}`,
    });
};

export const Modifier = z.strictObject(line).superRefine(checkDecimals);
export type Modifier = z.infer<typeof Modifier>;

export const Item = z
  .strictObject({ ...line, modifiers: z.array(Modifier).max(20).optional() })
  .superRefine(checkDecimals);
export type Item = z.infer<typeof Item>;

export const Capabilities = z.strictObject({
  can_cancel: z.boolean(),
  can_update: z.boolean(),
  can_overpay: z.boolean(),
  partial_payments: z.boolean(),
  express_checkout: z.boolean(),
  expiration_auto_renewal: z.boolean(),
});
export type Capabilities = z.infer<typeof Capabilities>;

/** 1 unit of the item currency is worth `rate` units of the order's payment currency. */
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
  address: z.string(),
  amount: Amount,
  amount_units: z.string(),
  decimals: z.int(),
  payment_uri: z.string().describe('BIP21 or EIP-681'),
  required_confirmations: z.int(),
  expires_at: Timestamp,
});

export const GatewayPayInstruction = z.object({
  rail: z.literal('gateway_pay'),
  currency: PaymentCurrency,
  amount: Amount,
  provider: z.string(),
  payment_reference: z.string(),
  payment_url: z.url(),
  qr_content: z.string(),
  expires_at: Timestamp,
});

export const DepositInstruction = z.discriminatedUnion('rail', [CryptoDepositInstruction, GatewayPayInstruction]);
export type DepositInstruction = z.infer<typeof DepositInstruction>;

export const Payment = z.object({
  id: PaymentId,
  merchant_id: MerchantId,
  order_id: z
    .string()
    .describe(
      'The order the payer named; of an orphan it may be unknown here, or the address of nobody that the money came to.',
    ),
  status: PaymentStatus,
  payment_rail: PaymentRail,
  provider_id: z.string(),
  paid_amount: Amount,
  fee_amount: Amount,
  net_amount: Amount,
  currency: PaymentCurrency,
  metadata: Metadata.optional(),
  applied_amount: Amount.optional(),
  unapplied_amount: Amount.optional(),
  refunded_amount: Amount.optional(),
  orphan_reason: OrphanReason.optional(),
  failure_reason: z.string().optional(),
  tx_hash: z.string().optional(),
  confirmations: z.int().optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Payment = z.infer<typeof Payment>;

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
  currency: PaymentCurrency,
  rates: Rates,
  capabilities: Capabilities,
  deposit_instructions: z.array(DepositInstruction),
  payment_reference: z.string().optional(),
  expiration_date: Timestamp.optional(),
  metadata: Metadata.optional(),
  created_at: Timestamp.optional(),
  updated_at: Timestamp.optional(),
});
export type Order = z.infer<typeof Order>;

export const MIN_EXPIRATION_MINUTES = 5;
export const MAX_EXPIRATION_MINUTES = 43_200;
export const DEFAULT_EXPIRATION_MINUTES = 60;

const ExpirationMinutes = z.int().min(MIN_EXPIRATION_MINUTES).max(MAX_EXPIRATION_MINUTES);

export const MerchantCreateOrderDto = z.strictObject({
  external_reference_id: z.string().min(1).max(128),
  items: z.array(Item).min(1).max(100),
  enable_rails: z
    .array(PaymentRail)
    .min(1)
    .max(2)
    .refine((rails) => new Set(rails).size === rails.length, { error: 'must not repeat a rail' })
    .meta({ uniqueItems: true }),
  payment_currency: PaymentCurrency,
  capabilities: Capabilities,
  expiration_minutes: ExpirationMinutes.optional(),
  metadata: Metadata.optional(),
});
export type MerchantCreateOrderDto = z.infer<typeof MerchantCreateOrderDto>;

export const UpdateOrderDto = z
  .strictObject({ metadata: Metadata.optional(), expiration_minutes: ExpirationMinutes.optional() })
  .refine((body) => body.metadata !== undefined || body.expiration_minutes !== undefined, {
    error: 'must have metadata, expiration_minutes, or both',
  })
  .meta({ minProperties: 1 });
export type UpdateOrderDto = z.infer<typeof UpdateOrderDto>;

export const Address = z.strictObject({
  street: z.string().min(1),
  city: z.string().min(1),
  state: z.string().min(1),
  postal_code: z.string().min(1),
  country: z.string().regex(/^[A-Z]{2}$/, { error: 'must be an ISO 3166-1 alpha-2 code' }),
});

export const IndividualProfile = z.strictObject({
  first_name: z.string().min(1),
  last_name: z.string().min(1),
  email: z.email(),
  phone: z.string().min(1).optional(),
});

export const BusinessProfile = z.strictObject({
  business_name: z.string().min(1),
  contact_email: z.email(),
  contact_phone: z.string().min(1).optional(),
  address: Address.optional(),
});

export const PaymentMethod = z.strictObject({
  type: PaymentRail,
  supported_currencies: z.array(PaymentCurrency).min(1),
  deposit_instructions: z.record(z.string(), z.json()),
});
export type PaymentMethod = z.infer<typeof PaymentMethod>;

export const MerchantType = z.enum(['individual', 'business']);

export const Merchant = z.object({
  id: MerchantId,
  external_reference_id: z.string(),
  type: MerchantType,
  payment_methods: z.array(PaymentMethod),
  individual_profile: IndividualProfile.optional(),
  business_profile: BusinessProfile.optional(),
  created_at: Timestamp,
  updated_at: Timestamp.optional(),
});
export type Merchant = z.infer<typeof Merchant>;

export const CreateMerchantDto = z
  .strictObject({
    type: MerchantType,
    external_reference_id: z.string().min(1).max(128),
    individual_profile: IndividualProfile.optional(),
    business_profile: BusinessProfile.optional(),
    payment_methods: z.array(PaymentMethod).min(1),
    metadata: Metadata,
  })
  .superRefine((merchant, context) => {
    const [own, other] =
      merchant.type === 'individual'
        ? (['individual_profile', 'business_profile'] as const)
        : (['business_profile', 'individual_profile'] as const);
    if (!merchant[own])
      context.addIssue({ code: 'custom', path: [own], message: `is required when type is ${merchant.type}` });
    if (merchant[other])
      context.addIssue({ code: 'custom', path: [other], message: `is not allowed when type is ${merchant.type}` });
  });
export type CreateMerchantDto = z.infer<typeof CreateMerchantDto>;

export const WebhookEventType = z.enum([
  'order:created',
  'order:updated',
  'order:paid',
  'payment:applied',
  'payment:failed',
  'payment:refunded',
]);
export type WebhookEventType = z.infer<typeof WebhookEventType>;

export const Webhook = z.object({
  id: WebhookId,
  merchant_id: MerchantId,
  url: z.string(),
  events: z.array(WebhookEventType),
  is_enabled: z.boolean(),
  disabled_reason: z.string().optional().describe('Why delivery was turned off by the service.'),
  created_at: Timestamp.optional(),
  updated_at: Timestamp.optional(),
});
export type Webhook = z.infer<typeof Webhook>;

export const WebhookEvents = z
  .array(WebhookEventType)
  .min(1)
  .refine((events) => new Set(events).size === events.length, { error: 'must not repeat an event type' })
  .meta({ uniqueItems: true });

export const CreateWebhookDto = z.strictObject({ url: z.string().max(2048), events: WebhookEvents });
export type CreateWebhookDto = z.infer<typeof CreateWebhookDto>;

export const UpdateWebhookDto = z
  .strictObject({ events: WebhookEvents.optional(), is_enabled: z.boolean().optional() })
  .refine((body) => body.events !== undefined || body.is_enabled !== undefined, {
    error: 'must have events, is_enabled, or both',
  })
  .meta({ minProperties: 1 });
export type UpdateWebhookDto = z.infer<typeof UpdateWebhookDto>;

export const DeliveryStatus = z.enum(['pending', 'delivered', 'failed']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

export const Delivery = z.object({
  id: DeliveryId.describe('`x-delivery-id` of every attempt.'),
  webhook_id: WebhookId,
  event_id: EventId.describe('`x-idempotency-key` of every attempt.'),
  event_type: WebhookEventType,
  status: DeliveryStatus.describe(
    '`pending` while attempts are to come; `failed` once none is: all were made in vain, or the webhook was disabled or deleted meanwhile.',
  ),
  attempt_count: z.int(),
  next_attempt_at: Timestamp.optional().describe('When the next attempt is due, while it is `pending`.'),
  created_at: Timestamp,
  updated_at: Timestamp.optional(),
});
export type Delivery = z.infer<typeof Delivery>;

export const AttemptOutcome = z.enum(['delivered', 'refused', 'timed_out', 'unreachable', 'blocked']);
export type AttemptOutcome = z.infer<typeof AttemptOutcome>;

export const DeliveryAttempt = z.object({
  number: z.int(),
  outcome: AttemptOutcome.describe(
    '`refused`: any answer but 2xx. `unreachable`: no connection, or one that broke. `blocked`: the address is not public.',
  ),
  started_at: Timestamp,
  duration_ms: z.int(),
  status_code: z.int().optional().describe('What the endpoint answered, if it did.'),
  error: z.string().optional().describe('Why there was no answer, or not all of one.'),
  response: z.string().optional().describe('The beginning of the body of the answer, as text.'),
});
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

/** One page of a list, oldest or newest first by creation time. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    limit: z.int(),
    count: z.int(),
    total: z.int(),
    page: z.int(),
    totalPages: z.int(),
  });

export const ErrorBody = z.object({
  error: z.string(),
  message: z.string(),
  statusCode: z.int(),
  code: z.string(),
  request_id: z.string(),
  details: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type ErrorBody = z.infer<typeof ErrorBody>;

/** Body of a webhook delivery. */
export const WebhookPayload = z.object({
  event: WebhookEventType,
  data: z.union([Order, Payment]),
  object_type: z.enum(['order', 'payment']),
  timestamp: z.int().describe('Unix time in milliseconds when the event happened.'),
});
export type WebhookPayload = z.infer<typeof WebhookPayload>;

export const DeliveryWithAttempts = Delivery.extend({
  attempts: z.array(DeliveryAttempt).describe('Oldest first.'),
  payload: WebhookPayload.optional().describe(
    'The body, as it was sent. Absent once it is no longer kept (30 days after the event, or after the replay of an old one, unless the operator chose otherwise, or when its order is deleted): then it cannot be delivered again.',
  ),
});
export type DeliveryWithAttempts = z.infer<typeof DeliveryWithAttempts>;

/** Events of a range on their way to a webhook once more. */
export const Replay = z.object({
  webhook_id: WebhookId,
  from_date: Timestamp,
  to_date: Timestamp.describe('At most the instant of the request: what happens later is delivered anyway.'),
  event_types: z.array(WebhookEventType),
});
export type Replay = z.infer<typeof Replay>;
