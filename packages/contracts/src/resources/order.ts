import { z } from 'zod';
import { exampleOf, withExample } from '../example.ts';
import { carriedField, carriedFields } from '../carried-fields.ts';
import { ItemCurrency, PaymentCurrency } from '../currencies.ts';
import { CreatedAt, EXAMPLE_IDS, OrderId, OwnerId, Timestamp, UpdatedAt } from '../ids.ts';
import { Amount } from '../money.ts';
import { Capabilities, CAPABILITIES_EXAMPLE } from './capabilities.ts';
import { Item, ItemDto } from './item.ts';
import { Metadata, MetadataDto } from './metadata.ts';
import { type CompleteDefaults, DefaultedFields } from './order-defaults.ts';
import { Payment } from './payment.ts';
import { OrderRefund } from './refund.ts';
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

/** One unit of the item currency is worth `rate` units of the order's payment currency. */
export const Rate = z.object({
  rate: z.string().describe('How many units of the payment currency one unit of the item currency is worth.'),
  source: z.string().describe('Where the rate comes from.'),
  quoted_at: Timestamp.describe('When the rate was quoted.'),
  expires_at: Timestamp.describe('Until when the rate is locked.'),
});
export type Rate = z.infer<typeof Rate>;

export const Rates = z.partialRecord(ItemCurrency, Rate);
export type Rates = z.infer<typeof Rates>;

/** Exact sums of prices. */
export const ItemTotals = z.partialRecord(ItemCurrency, Amount);
export type ItemTotals = z.infer<typeof ItemTotals>;

export const CryptoDepositInstruction = z.object({
  rail: z.literal('crypto_deposit').describe('The rail: a deposit on a chain.'),
  currency: PaymentCurrency.describe('The asset to send.'),
  network: z.string().describe('The name of the network.'),
  chain_id: z.string().describe('CAIP-2'),
  asset: z.string().describe('CAIP-19'),
  asset_label: z
    .string()
    .optional()
    .describe('The name that wallets show for the asset, where it is not the currency: `USDT0`.'),
  address: z.string().describe('The address to send to. It belongs to this order alone.'),
  amount: Amount.describe(
    'The amount that is still missing, beside payments that are received and not applied yet. Zero for an order that you refunded.',
  ),
  amount_units: z.string().describe('The same amount in the smallest units of the asset.'),
  decimals: z.int().describe('The decimals of the asset on this network.'),
  payment_uri: z
    .string()
    .optional()
    .describe(
      'A BIP21 or EIP-681 URI. Absent when the order takes no more payments, when nothing is missing, and when you refunded the order.',
    ),
  required_confirmations: z.int().describe('The number of blocks after which a payment counts.'),
  smallest_payable_amount: Amount.optional().describe(
    'The smallest amount that can be paid. A rest below it settles the order, and a surplus below it is not due for refund. Absent if every amount can be paid.',
  ),
  expires_at: Timestamp.describe('Until when the instruction is valid.'),
});

export const GatewayPayInstruction = z.object({
  rail: z.literal('gateway_pay').describe('The rail: a payment through a provider.'),
  currency: PaymentCurrency.describe('The currency to pay in.'),
  amount: Amount.describe('The amount that remains to be paid. Zero for an order that you refunded.'),
  provider: z.string().describe('The name of the payment provider.'),
  payment_reference: z.string().describe('The reference of the order at the provider.'),
  payment_url: z.string().meta({ format: 'uri' }).describe('The page on which the payer pays.'),
  qr_content: z.string().optional().describe('Absent when the order takes no more payments, and when you refunded it.'),
  expires_at: Timestamp.describe('Until when the instruction is valid.'),
});

export const DepositInstruction = z.discriminatedUnion('rail', [CryptoDepositInstruction, GatewayPayInstruction]);
export type DepositInstruction = z.infer<typeof DepositInstruction>;

/** A page of the merchant for the payer's browser. The gateway checks its form. */
const PayerUrl = requestText(1, 2048).optional();

/** The fields of an order that the merchant sets and reads again. They have no effect on how the order is paid. A field
 *  that is added here is accepted, recorded and shown everywhere: see CONTRIBUTING.md. */
export const OrderDetails = carriedFields({
  external_reference_id: carriedField({
    recordedAs: 'externalReferenceId',
    requested: requestText(1, 128),
    shown: z.string(),
    description: 'Your own reference. It need not be unique.',
    example: 'invoice-1042',
  }),
  return_url: carriedField({
    recordedAs: 'returnUrl',
    requested: PayerUrl,
    shown: z.string().optional(),
    description:
      'Your page to which the payment page sends the payer after the payment, with `order_id` and `status` in the query. An `https` URL without credentials and fragment, in a sandbox on your own machine also `http://localhost`; it is never fetched. Anyone can open it with any values: retrieve the order before you trust them.',
    shownDescription: 'Your page for a payer who has paid, as in the request.',
    example: 'https://lafonda.example/thanks?table=B7',
  }),
  cancel_url: carriedField({
    recordedAs: 'cancelUrl',
    requested: PayerUrl,
    shown: z.string().optional(),
    description:
      'Your page to which the payment page leads a payer who does not want to pay, or cannot any more. Same rules as `return_url`.',
    shownDescription: 'Your page for a payer who does not pay, as in the request.',
    example: 'https://lafonda.example/cart',
  }),
  metadata: carriedField({
    recordedAs: 'metadata',
    requested: MetadataDto.optional(),
    shown: Metadata.optional(),
    description:
      'Your own data. It is stored and returned. It decides which webhooks with a `filter` get the events of the order, and `GET /v1/orders` finds orders by it.',
    example: { table: 'B7' },
  }),
});
export type OrderDetails = ReturnType<typeof OrderDetails.toRecorded>;

const ITEMS_EXAMPLE: z.input<typeof Item>[] = [
  {
    name: 'Dinner for two',
    quantity: 1,
    unit_price: '850.00',
    currency: 'MXN',
    modifiers: [{ name: 'Service', quantity: 1, unit_price: '85.00', currency: 'MXN' }],
  },
  { name: 'Delivery', quantity: 1, unit_price: '50.00', currency: 'MXN', kind: 'shipping' },
  { name: 'Birthday', quantity: 1, unit_price: '-50.00', currency: 'MXN', kind: 'discount' },
];

export const Order = withExample(
  z.object({
    id: OrderId.describe('The order: `ord_` and a ULID.'),
    ...OrderDetails.shown,
    merchant_id: OwnerId,
    items: z.array(Item).describe('What is sold.'),
    item_totals: ItemTotals.describe(
      'The sum of the items and their modifiers, by item currency: exact, with at least the decimals of the currency. Converted with `rates`, the sums make the price of the order.',
    ),
    payments: z.array(Payment).describe('The payments of the order, oldest first.'),
    refunds: z
      .array(OrderRefund)
      .optional()
      .describe('The refunds of the order as a whole, oldest first. Absent without one.'),
    status: OrderStatus.describe('The state of the order.'),
    status_reason: z.string().optional().describe('Why the order has its status.'),
    total_amount: Amount.describe('The amount due.'),
    remaining_amount: Amount.describe('The amount that remains to be paid. Zero for a paid order.'),
    shortfall_amount: Amount.optional().describe(
      'What is missing of a paid order that was settled with less than its total. The total is the sum of the applied, the missing and the remaining amount. Absent if nothing is missing.',
    ),
    due_back_amount: Amount.optional().describe(
      'What of the order’s currency is to be given back: payments that are orphans, and surplus that is due for refund. A payment in another currency is due as well: see `payments`. Not the part of an order that is `partially_paid_expired`, which you can still accept. Absent if nothing is due.',
    ),
    underpayment_tolerance_percent: z
      .number()
      .optional()
      .describe('The part of the total that may be missing. Absent for none.'),
    currency: PaymentCurrency.describe('The currency in which the order is paid.'),
    rates: Rates.describe('The locked exchange rates, by item currency.'),
    capabilities: Capabilities.describe('What may happen to the order.'),
    deposit_instructions: z.array(DepositInstruction).describe('How to pay, one instruction per rail and network.'),
    payment_reference: z.string().optional().describe('The reference that the payer gives, if the rail has one.'),
    payment_url: z
      .string()
      .meta({ format: 'uri' })
      .optional()
      .describe(
        'The page on which the payer pays: send the payer there. The same as in the instruction of `gateway_pay`; absent without this rail.',
      ),
    expiration_date: Timestamp.optional().describe('The deadline for payment.'),
    paid_at: Timestamp.optional().describe(
      'When the order last became `paid`. It stays when a payment fails or is refunded later. Absent before.',
    ),
    created_at: CreatedAt.optional(),
    updated_at: UpdatedAt.optional(),
  }),
  {
    id: EXAMPLE_IDS.order,
    merchant_id: EXAMPLE_IDS.merchant,
    items: ITEMS_EXAMPLE,
    item_totals: { MXN: '935.00' },
    payments: [],
    status: 'awaiting_payment',
    total_amount: '52.472200',
    remaining_amount: '52.472200',
    currency: 'USDC',
    rates: {
      MXN: {
        rate: '0.05612',
        source: 'kraken',
        quoted_at: '2026-01-31T12:00:00.000Z',
        expires_at: '2026-01-31T13:00:00.000Z',
      },
    },
    capabilities: CAPABILITIES_EXAMPLE,
    deposit_instructions: [
      {
        rail: 'crypto_deposit',
        currency: 'USDC',
        network: 'base',
        chain_id: 'eip155:8453',
        asset: 'eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        address: '0x9858EfFD232B4033E47d90003D41EC34EcaEda94',
        amount: '52.472200',
        amount_units: '52472200',
        decimals: 6,
        payment_uri:
          'ethereum:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913@8453/transfer?address=0x9858EfFD232B4033E47d90003D41EC34EcaEda94&uint256=52472200',
        required_confirmations: 12,
        expires_at: '2026-01-31T13:00:00.000Z',
      },
    ],
    expiration_date: '2026-01-31T13:00:00.000Z',
    ...exampleOf(z.object(OrderDetails.requested)),
    created_at: '2026-01-31T12:00:00.000Z',
    updated_at: '2026-01-31T12:00:00.000Z',
  },
);
export type Order = z.infer<typeof Order>;

export const MIN_EXPIRATION_MINUTES = 5;
export const MAX_EXPIRATION_MINUTES = 43_200;
export const DEFAULT_EXPIRATION_MINUTES = 60;

const ExpirationMinutes = z.int().min(MIN_EXPIRATION_MINUTES).max(MAX_EXPIRATION_MINUTES);

export const MAX_TOLERANCE_PERCENT = 5;

/** A part of the total, in hundredths of a percent at most. */
export const TolerancePercent = z
  .number()
  .min(0)
  .max(MAX_TOLERANCE_PERCENT)
  .refine((percent) => Number(percent.toFixed(2)) === percent, { error: 'must have at most 2 decimals' });

export const toleranceBpsOf = (percent: number): number => Math.round(percent * 100);

const ItemsDto = z.array(ItemDto).min(1).max(100);

export const MerchantCreateOrderDto = z.strictObject({
  ...OrderDetails.requested,
  items: ItemsDto.meta({
    description: 'What is sold. The sum of the items is the amount due.',
    example: ITEMS_EXAMPLE,
  }),
  ...DefaultedFields,
  expiration_minutes: ExpirationMinutes.optional().meta({
    description: 'Minutes until the order expires. By default 60.',
    example: 60,
  }),
  underpayment_tolerance_percent: TolerancePercent.optional().describe(
    'The part of the total that may be missing, with at most 2 decimals. By default, that of the merchant.',
  ),
});
export type MerchantCreateOrderDto = z.infer<typeof MerchantCreateOrderDto>;

/** A request with the merchant's defaults for what it left out. */
export type NewOrder = Omit<MerchantCreateOrderDto, keyof CompleteDefaults> & CompleteDefaults;

export const UpdateOrderDto = z
  .strictObject({
    metadata: MetadataDto.optional().describe(
      'The names to set, with their new values. `null` removes a name; names that are absent here stay. Values are replaced as a whole, objects too. All metadata together is at most 16 KiB.',
    ),
    expiration_minutes: ExpirationMinutes.optional().describe(
      'Minutes from now until the order expires. Only while the order is open. The locked rates move with it, up to 24 hours from their quote by default.',
    ),
    items: ItemsDto.optional().describe(
      'The items that replace all earlier ones. They are priced with new rates; addresses and deadline stay. Only while the order is open and no money was seen: 409 `payment_in_progress` after that.',
    ),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: 'must have metadata, expiration_minutes or items',
  })
  .meta({ minProperties: 1, example: { metadata: { table: 'B7' } } });
export type UpdateOrderDto = z.infer<typeof UpdateOrderDto>;

export const AcceptOrder = z
  .strictObject({
    reason: requestText(1, 500).describe('Why less money than the total settles the order. The history shows it.'),
  })
  .meta({ example: { reason: 'the bank of the payer kept a fee' } });
export type AcceptOrder = z.infer<typeof AcceptOrder>;

export const CancelOrderDto = withExample(
  z.strictObject({
    if_unpaid: z
      .boolean()
      .optional()
      .describe(
        'Cancel only if no money was seen: 409 `payment_in_progress` otherwise, also for money that is not confirmed yet. By default, money that was seen becomes an orphan.',
      ),
  }),
  { if_unpaid: true },
);
export type CancelOrderDto = z.infer<typeof CancelOrderDto>;
