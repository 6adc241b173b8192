import { z } from 'zod';
import { ItemCurrency, ItemKind, PaymentCurrency, PaymentRail } from '../currencies.ts';
import { Timestamp } from '../ids.ts';
import { Amount, SignedAmount } from '../money.ts';
import { Capabilities } from './capabilities.ts';
import { OrphanReason } from './payment.ts';

// The payer's view of an order, without the merchant's ids, emails, metadata and references.

/** `confirming`: the whole amount was seen, but is not settled yet.
 *  `closing`: after the deadline, before the order expires or gets new prices. */
export const CheckoutState = z.enum([
  'preparing',
  'waiting',
  'partially_paid',
  'confirming',
  'closing',
  'paid',
  'reversed',
  'returned',
  'expired',
  'partially_paid_expired',
  'canceled',
]);
export type CheckoutState = z.infer<typeof CheckoutState>;

const line = {
  name: z.string(),
  quantity: z.number(),
  /** Negative for a discount. */
  unit_price: SignedAmount,
  /** `quantity * unit_price`, exactly. */
  price: z.string(),
  currency: ItemCurrency,
};

export const CheckoutModifier = z.strictObject(line);
export const CheckoutLine = z.strictObject({ ...line, kind: ItemKind, modifiers: z.array(CheckoutModifier) });
export type CheckoutLine = z.infer<typeof CheckoutLine>;

/** One unit of `currency` is worth `rate` units of the payment currency. */
export const CheckoutRate = z.strictObject({ currency: ItemCurrency, rate: z.string(), quoted_at: Timestamp });
export type CheckoutRate = z.infer<typeof CheckoutRate>;

/** One address that takes the money, on one network. */
export const WayToPay = z.strictObject({
  rail: PaymentRail,
  network: z.string(),
  /** Such as `Ethereum`. */
  network_name: z.string(),
  is_testnet: z.boolean(),
  /** CAIP-2. */
  chain_id: z.string(),
  /** CAIP-19. */
  asset: z.string(),
  /** The name that wallets show for the asset, where it is not the currency. */
  asset_label: z.string().optional(),
  /** The names of tokens on the network that a payer could mistake for it, and that do not pay the order. */
  not_tokens: z.array(z.string()).optional(),
  address: z.string(),
  /** The amount that is left to send, in the payment currency. */
  amount: Amount,
  /** The same in units of the asset on its chain. */
  amount_units: z.string(),
  decimals: z.int(),
  payment_uri: z.string(),
  required_confirmations: z.int(),
  /** The block explorer of the network. It shows a transaction at `/tx/<hash>`. */
  explorer: z.string().optional(),
  /** How long these confirmations take on average; null if the block time is unknown. */
  minutes: z.number().nullable(),
});
export type WayToPay = z.infer<typeof WayToPay>;

/** `late`, `insufficient`, `wrong_network`: the merchant must accept or return it. `not_counted`: the merchant must
 *  return it. */
export const CheckoutPaymentState = z.enum([
  'seen',
  'counted',
  'late',
  'insufficient',
  'wrong_network',
  'not_counted',
  'returned',
  'failed',
]);
export type CheckoutPaymentState = z.infer<typeof CheckoutPaymentState>;

export const CheckoutPayment = z.strictObject({
  amount: Amount,
  currency: PaymentCurrency,
  /** The name of the token that arrived, where it is not the currency. */
  asset_label: z.string().optional(),
  state: CheckoutPaymentState,
  /** Why it does not count. */
  orphan_reason: OrphanReason.optional(),
  /** The parts that the merchant must return, and has returned. */
  due_back: Amount,
  returned: Amount,
  network_name: z.string().optional(),
  tx_hash: z.string().optional(),
  /** The transaction on the explorer of its network. */
  tx_url: z.string().optional(),
  confirmations: z.int().optional(),
  required_confirmations: z.int().optional(),
  seen_at: Timestamp,
});
export type CheckoutPayment = z.infer<typeof CheckoutPayment>;

export const Checkout = z.strictObject({
  /** The payment reference, by which payers and merchants identify the page. */
  reference: z.string(),
  merchant: z.strictObject({
    name: z.string(),
    /** How payers reach the merchant. */
    contact: z.string().optional(),
    /** Paths on the gateway. */
    logo_url: z.string().optional(),
    accent_url: z.string().optional(),
  }),
  lines: z.array(CheckoutLine),
  /** The exact sums of the lines, in the currencies of their prices. Empty if the payment currency is the only one. */
  sums: z.array(z.strictObject({ currency: ItemCurrency, amount: z.string() })),
  currency: PaymentCurrency,
  total: Amount,
  /** All that the payer has paid and the network has confirmed. What is returned or due back later does not change
   *  it. */
  paid: Amount,
  /** The part that the merchant recorded as returned. */
  returned: Amount,
  /** The part that the merchant has to return. */
  due_back: Amount,
  /** The part that counts for the order. */
  applied: Amount,
  /** Seen and not settled: unconfirmed, or held until more money comes. */
  pending: Amount,
  /** The amount that is left to send. */
  remaining: Amount,
  /** The part of the total that is missing of a paid order. The payer does not owe it. */
  shortfall: Amount,
  /** Whether the merchant accepted less than the total. */
  accepted_by_merchant: z.boolean(),
  /** Applied beyond the total. */
  surplus: Amount,
  rates: z.array(CheckoutRate),
  /** When a renewal set new prices. */
  price_updated_at: Timestamp.optional(),
  state: CheckoutState,
  /** Until when the prices hold. */
  deadline: Timestamp,
  rules: z.strictObject({
    partial_payments: Capabilities.shape.partial_payments,
    can_overpay: Capabilities.shape.can_overpay,
    renews: z.boolean(),
    express: z.boolean(),
  }),
  /** Empty once the order takes no money. */
  ways: z.array(WayToPay),
  payments: z.array(CheckoutPayment),
  /** The refunds for which the payer can enter an address. Only those that the merchant shows here. */
  refund_claims: z.array(
    z.strictObject({
      amount: Amount,
      currency: PaymentCurrency,
      /** The part of `amount` that `due_back` contains. */
      of_due_back: Amount,
      path: z.string(),
    }),
  ),
  /** Pages of the merchant, with `order_id` and `status` in their query. */
  return_url: z.string().optional(),
  cancel_url: z.string().optional(),
});
export type Checkout = z.infer<typeof Checkout>;
