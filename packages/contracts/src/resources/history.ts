import { z } from 'zod';
import { withExample } from '../example.ts';
import { ItemCurrency, PaymentCurrency, PaymentRail } from '../currencies.ts';
import { EXAMPLE_IDS, EventId, MerchantId, OrderId, OrderRefundId, PaymentId, RefundId, Timestamp } from '../ids.ts';
import { Amount } from '../money.ts';
import { RecordedMetadata } from '../recorded-values.ts';
import { Item } from './item.ts';
import { Capabilities } from './capabilities.ts';
import { OrderDetails, OrderStatus, Rates } from './order.ts';
import { BlockRef, OrphanReason } from './payment.ts';
import { OrderRefundPart } from './refund.ts';

const TEXTS: Record<string, string> = {
  id: 'The payment: `pay_` and a ULID.',
  rail: 'The rail that the instruction is for.',
  payment_rail: 'The rail that reported the payment.',
  provider_id: 'Identifies the money at its source.',
  currency: 'The currency of the amounts.',
  paid_amount: 'The amount that was paid.',
  fee_amount: 'The fee of the payment.',
  tx_hash: 'Hash of the transaction on its chain.',
  confirmations: 'Number of confirmations that the rail reported.',
  block: 'The block that contains the payment: none before it is mined.',
  metadata: 'Your own data.',
  seen_at: 'When the rail first saw the payment.',
  confirmed_at: 'When the rail confirmed the payment.',
  created_at: 'When the payment was received.',
  order_id: 'The order. In a payment: the order that the payment names, which may not exist.',
  merchant_id: 'Your id.',
  enable_rails: 'The rails that the payer can use.',
  total_amount: 'The total of the order after the event.',
  expiration_minutes: 'Minutes until the deadline.',
  expiration_date: 'The deadline after the event.',
  items: 'The items of the order.',
  capabilities: 'The capabilities of the order.',
  rates: 'The locked rates after the event.',
  deposit_instructions: 'Where to pay, without the amount.',
  network: 'The name of the network.',
  chain_id: 'The chain (CAIP-2).',
  asset: 'The asset (CAIP-19).',
  asset_label: 'The name that wallets show for the asset, where it is not the currency.',
  credited: '`false` for a token that does not count as the currency.',
  address: 'The deposit address.',
  decimals: 'Decimals of the asset on its chain.',
  required_confirmations: 'Number of confirmations after which a payment counts.',
  provider: 'The name of the provider.',
  payment_reference: 'The reference for the payer.',
  payment_url: 'The page on which to pay.',
  status_reason: 'The reason for the status.',
  payment_id: 'The payment that the event is about.',
  applied_amount: 'The part that counts for the order after the event.',
  unapplied_amount: 'The surplus, due for refund.',
  orphan_reason: 'The reason why the payments became orphans.',
  failure_reason: 'The reason why the payment failed.',
  failed_at: 'When the payment failed.',
  refund_id: 'The refund: `rfd_` and a ULID.',
  claim_expires_at: 'Until when the payer can enter an address on the claim link.',
  order_refund_id: 'The refund of the order: `orf_` and a ULID.',
  refunded_at: 'When the payment was refunded.',
  reason: 'The reason that was given.',
};

/** Adds the text of `TEXTS` to each field without a description. */
const described = <S extends z.ZodRawShape>(shape: S): S =>
  Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => {
      const field = schema as z.ZodType;
      return [name, field.description === undefined ? field.describe(TEXTS[name]!) : field];
    }),
  ) as unknown as S;

/** An object with some of the fields of `all`. */
const pick = <S extends z.ZodRawShape, R extends keyof S & string, O extends keyof S & string = never>(
  all: S,
  required: readonly R[],
  optional: readonly O[] = [],
) =>
  z.object({
    ...Object.fromEntries(required.map((name) => [name, all[name]])),
    ...Object.fromEntries(optional.map((name) => [name, (all[name] as unknown as z.ZodType).optional()])),
  }) as unknown as z.ZodObject<Pick<S, R> & { [K in O]: z.ZodOptional<S[K]> }>;

export const HistoryInstruction = z.object(
  described({
    rail: PaymentRail,
    currency: PaymentCurrency,
    network: z.string().optional(),
    chain_id: z.string().optional(),
    asset: z.string().optional(),
    asset_label: z.string().optional(),
    address: z.string().optional(),
    decimals: z.int().optional(),
    required_confirmations: z.int().optional(),
    provider: z.string().optional(),
    payment_reference: z.string().optional(),
    payment_url: z.string().optional(),
  }),
);

export const HistoryAllocation = z.object(
  described({ payment_id: PaymentId, applied_amount: Amount, unapplied_amount: Amount }),
);

const money = {
  payment_rail: PaymentRail,
  provider_id: z.string(),
  currency: PaymentCurrency,
  paid_amount: Amount,
  fee_amount: Amount,
  asset: z.string(),
  asset_label: z.string(),
  credited: z.boolean(),
  tx_hash: z.string(),
  confirmations: z.int(),
  block: BlockRef,
  metadata: RecordedMetadata,
  seen_at: Timestamp,
  confirmed_at: Timestamp,
};

const MONEY = ['payment_rail', 'provider_id', 'currency', 'seen_at'] as const;
const CHAIN = ['confirmations', 'block'] as const;
const MONEY_ON_CHAIN = ['asset', 'asset_label', 'credited', 'tx_hash', ...CHAIN] as const;

export const HistoryPayment = pick(
  described({ id: PaymentId, ...money, created_at: Timestamp }),
  ['id', ...MONEY, 'paid_amount', 'fee_amount', 'created_at'],
  [...MONEY_ON_CHAIN, 'metadata', 'confirmed_at'],
);

/** Every field of the history. The names are those of the Order and Payment resources; amounts are decimals. */
const FIELDS = described({
  ...money,
  order_id: z.string(),
  merchant_id: MerchantId,
  ...OrderDetails.shown,
  items: z.array(Item),
  enable_rails: z.array(PaymentRail),
  capabilities: Capabilities,
  rates: Rates,
  total_amount: Amount,
  underpayment_tolerance_percent: z.number().describe('The part of the total that may be missing. Absent for none.'),
  expiration_minutes: z.int(),
  expiration_date: Timestamp,
  deposit_instructions: z.array(HistoryInstruction),
  status: OrderStatus.describe('The status of the order after the event.'),
  status_reason: z.string(),
  payment: HistoryPayment.describe('The payment that came for the order.'),
  payment_id: PaymentId,
  payment_ids: z.array(PaymentId).describe('The payments that became orphans.'),
  confirmed: z.boolean().describe('Whether the rail had confirmed the payment.'),
  allocations: z.array(HistoryAllocation).describe('The payments that were applied, and what the order took of each.'),
  shortfall_amount: Amount.describe('What is missing of an order that is settled with less than its total.'),
  applied_amount: Amount,
  unapplied_amount: Amount,
  orphan_reason: OrphanReason,
  failure_reason: z.string(),
  failed_at: Timestamp,
  sighting: z.int().describe('How often the rail has seen the money by now. An assignment by the operator counts too.'),
  reinstated_at: Timestamp.describe('When the rail saw the money again.'),
  refund_id: RefundId,
  claim_expires_at: Timestamp,
  order_refund_id: OrderRefundId,
  requested_amount: z.string().describe('The amount of the request, if it was in an item currency.'),
  requested_currency: ItemCurrency.describe('The currency of `requested_amount`.'),
  parts: z.array(OrderRefundPart.partial({ amount: true })).describe('The refunds of payments that make it up.'),
  amount: Amount.describe('The amount of the refund.'),
  refunded_amount: Amount.describe('The total of all refunds of the payment after this one.'),
  refunded_at: Timestamp,
  network: z.string().describe('The network on which the money went back.'),
  destination: z.string().describe('Where the money goes: an address on `network`, or a text that you entered.'),
  reason: z.string(),
  renewal: z.int().describe('Number of the renewal.'),
  minutes: z.int().describe('By how much the clock of a sandbox order was advanced.'),
});

const TRANSITION = ['status', 'status_reason'] as const;
const DETAILS = Object.keys(OrderDetails.shown) as (keyof typeof OrderDetails.shown)[];

/** What the API shows of each type of event: the fields that it always has, and those that it may have. An amount of a
 *  payment is absent while the decimals of the payment are not known. */
export const HISTORY_DATA = {
  OrderCreated: pick(
    FIELDS,
    [
      ...(['order_id', 'merchant_id', 'items', 'enable_rails', 'currency', 'capabilities', 'rates'] as const),
      ...(['expiration_minutes', 'expiration_date', ...TRANSITION, ...DETAILS] as const),
    ],
    ['total_amount', 'underpayment_tolerance_percent', 'deposit_instructions'],
  ),
  OrderInstructed: pick(FIELDS, ['deposit_instructions', ...TRANSITION]),
  OrderPaymentReceived: pick(FIELDS, ['payment', 'confirmed']),
  OrderPaymentConfirmed: pick(FIELDS, ['payment_id'], ['confirmations', 'confirmed_at']),
  OrderPaymentBlockChanged: pick(FIELDS, ['payment_id'], CHAIN),
  OrderPaymentsApplied: pick(FIELDS, ['allocations', ...TRANSITION], ['shortfall_amount']),
  OrderPaymentsOrphaned: pick(FIELDS, ['payment_ids', 'orphan_reason']),
  OrderPaymentFailed: pick(FIELDS, ['payment_id', 'failure_reason', 'failed_at', ...TRANSITION]),
  OrderPaymentReinstated: pick(
    FIELDS,
    ['payment_id', 'sighting', 'reinstated_at', 'confirmed'],
    ['confirmed_at', ...CHAIN],
  ),
  OrderPaymentRefunded: pick(
    FIELDS,
    ['payment_id', 'refund_id', 'refunded_at', ...TRANSITION],
    ['refunded_amount', 'applied_amount'],
  ),
  OrderRefunded: pick(
    FIELDS,
    ['order_refund_id', 'parts'],
    ['amount', 'requested_amount', 'requested_currency', 'reason'],
  ),
  OrderPaid: pick(FIELDS, TRANSITION),
  OrderAccepted: pick(FIELDS, ['reason', ...TRANSITION], ['shortfall_amount']),
  OrderUpdated: pick(
    FIELDS,
    [],
    ['metadata', 'items', 'rates', 'total_amount', 'expiration_minutes', 'expiration_date'],
  ),
  OrderRenewed: pick(FIELDS, ['rates', 'expiration_date', 'renewal'], ['total_amount']),
  OrderTimeAdvanced: pick(FIELDS, ['minutes', 'expiration_date']),
  OrderExpired: pick(FIELDS, ['payment_ids', ...TRANSITION]),
  OrderCanceled: pick(FIELDS, ['payment_ids', ...TRANSITION]),
  OrderDeleted: pick(FIELDS, ['reason']),
  PaymentReceived: pick(
    FIELDS,
    ['payment_id', 'order_id', 'merchant_id', ...MONEY, 'confirmed'],
    ['paid_amount', 'fee_amount', ...MONEY_ON_CHAIN, 'metadata'],
  ),
  PaymentConfirmed: pick(FIELDS, [], ['confirmations']),
  PaymentBlockChanged: pick(FIELDS, ['confirmations'], ['block']),
  PaymentApplied: pick(FIELDS, ['order_id'], ['applied_amount', 'unapplied_amount']),
  PaymentOrphaned: pick(FIELDS, ['orphan_reason']),
  PaymentFailed: pick(FIELDS, ['failure_reason']),
  PaymentReinstated: pick(FIELDS, ['sighting', 'seen_at', 'confirmed'], CHAIN),
  PaymentRefunded: pick(
    FIELDS,
    ['refund_id'],
    ['order_refund_id', 'amount', 'refunded_amount', 'reason', 'tx_hash', 'network', 'destination'],
  ),
  PaymentAssigned: pick(FIELDS, ['merchant_id', 'sighting', 'seen_at', 'confirmed_at'], ['order_id']),
  PaymentRefundRequested: pick(FIELDS, ['refund_id', 'network', 'asset'], ['amount', 'reason']),
  PaymentRefundAddressed: pick(FIELDS, ['refund_id', 'destination']),
  PaymentRefundSent: pick(FIELDS, ['refund_id', 'tx_hash']),
  PaymentRefundReopened: pick(FIELDS, ['refund_id']),
  PaymentRefundCanceled: pick(FIELDS, ['refund_id']),
  PaymentRefundClaimIssued: pick(FIELDS, ['refund_id', 'claim_expires_at']),
  PaymentRefundClaimed: pick(FIELDS, ['refund_id', 'destination'], ['amount']),
};
export type HistoryEventType = keyof typeof HISTORY_DATA;
export type HistoryData<T extends HistoryEventType = HistoryEventType> = z.infer<(typeof HISTORY_DATA)[T]>;

/** How an event was recorded. */
export const RECORDING = {
  type: z.string().describe('Event type, for example `OrderPaymentsApplied`.'),
  at: Timestamp.describe('When it happened.'),
  recorded_at: Timestamp.describe('When it was recorded.'),
  actor: z
    .string()
    .describe(
      'The caller that caused it: `key:` and the first 12 characters of an API key, `user:` and the id of a user, `service:` and a name, or `debug`.',
    ),
  request_id: z.string().describe('Id of the request that recorded it.'),
  correlation_id: z.string().describe('The same value for every event that follows from one request.'),
  causation_id: z.string().describe('Id of the event or request that directly caused it.'),
  previous_hash: z
    .string()
    .describe('`hash` of the previous event of the stream. For the first event: SHA-256 of the stream name.'),
};

const RECORDED = {
  id: EventId.describe('The event: `evt_` and a ULID.'),
  stream: z.string().describe('`order-` or `payment-`, and the id of the order or payment.'),
  order_id: OrderId.describe('The order whose history this is.'),
  sequence: z.int().nonnegative().describe('Number of the event on its stream, from 0.'),
  ...RECORDING,
  hash: z
    .string()
    .describe(
      'SHA-256, in hexadecimal, over `previous_hash` and the recorded form of the event, which the operator can export. Keep it to prove later that neither this event nor an earlier one of its stream was changed.',
    ),
};

const entryOf = <T extends HistoryEventType>(type: T) =>
  z.object({
    ...RECORDED,
    type: z.literal(type).describe('The type of the event.'),
    data: HISTORY_DATA[type].describe('What the event changed.'),
  });

/** The entry of each type of event. */
export const HISTORY_ENTRIES = Object.fromEntries(
  (Object.keys(HISTORY_DATA) as HistoryEventType[]).map((type) => [type, entryOf(type)]),
) as { [T in HistoryEventType]: ReturnType<typeof entryOf<T>> };

const [first, ...others] = Object.values(HISTORY_ENTRIES);

/** A recorded event as the API shows it. Its hash covers the recorded form, which `audit export` has. */
export const HistoryEntry = withExample(z.discriminatedUnion('type', [first!, ...others]), {
  id: EXAMPLE_IDS.event,
  stream: `payment-${EXAMPLE_IDS.payment}`,
  order_id: EXAMPLE_IDS.order,
  sequence: 2,
  type: 'PaymentApplied',
  at: '2026-01-31T12:04:34.000Z',
  recorded_at: '2026-01-31T12:04:34.004Z',
  actor: 'service:payments',
  request_id: 'req_01KG9Q5H6J7K8M9N0P1Q2R3S4T',
  correlation_id: 'req_01KG9Q5H6J7K8M9N0P1Q2R3S4T',
  causation_id: 'req_01KG9Q5H6J7K8M9N0P1Q2R3S4T',
  previous_hash: 'b75aedb286182cb48e80da7b68430054aee738fb786cf29bf37255aab3b19750',
  hash: '738382d599f02600f331d68ed2c78ba057d8541deb65712d27531059bb86191e',
  data: { order_id: EXAMPLE_IDS.order, applied_amount: '52.472200', unapplied_amount: '0.000000' },
});
export type HistoryEntry = z.infer<typeof HistoryEntry>;
