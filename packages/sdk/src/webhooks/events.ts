/** A verified event. Amounts are decimal strings, times ISO 8601 in UTC. The gateway may add fields and event types:
 *  ignore those that you do not know. */
export type WebhookEvent = OrderEvent | PaymentEvent;

export type WebhookEventType = OrderEvent['event'] | PaymentEvent['event'];

interface EventBase {
  /** `evt_...`, the same on every attempt, redelivery and replay. Store it to process each event once. */
  readonly id: string;
  /** When the event happened, Unix milliseconds. */
  readonly timestamp: number;
}

/** `data` is the order as it was right after the event. */
export interface OrderEvent extends EventBase {
  readonly event: 'order:created' | 'order:updated' | 'order:paid';
  readonly object_type: 'order';
  readonly data: Order;
}

/** `data` is the payment as it was right after the event. */
export interface PaymentEvent extends EventBase {
  readonly event: 'payment:applied' | 'payment:failed' | 'payment:refunded';
  readonly object_type: 'payment';
  readonly data: Payment;
  /** In `payment:refunded` alone. */
  readonly refund?: Refund | undefined;
}

export type Rail = 'gateway_pay' | 'crypto_deposit';
export type PaymentCurrency = 'USDT' | 'USDC' | 'USDG' | 'BTC' | 'ETH' | 'CAZ';
export type ItemCurrency = 'MXN' | 'USD' | 'EUR' | 'ARS' | 'USDT' | 'USDC' | 'USDG';
export type Json = string | number | boolean | null | Json[] | { [name: string]: Json };

export interface Order {
  id: string;
  external_reference_id: string;
  merchant_id: string;
  items: Item[];
  /** The sum of the items and their modifiers, by item currency. */
  item_totals: Partial<Record<ItemCurrency, string>>;
  payments: Payment[];
  status:
    | 'initialized'
    | 'awaiting_payment'
    | 'partially_paid'
    | 'paid'
    | 'reversed'
    | 'partially_paid_expired'
    | 'expired'
    | 'canceled';
  status_reason?: string | undefined;
  total_amount: string;
  remaining_amount: string;
  /** The missing amount of an order that was settled with less than its total. */
  shortfall_amount?: string | undefined;
  /** The amount of its currency to give back: orphans and surplus. Absent if nothing is due. */
  due_back_amount?: string | undefined;
  underpayment_tolerance_percent?: number | undefined;
  currency: PaymentCurrency;
  rates: Partial<Record<ItemCurrency, Rate>>;
  capabilities: Capabilities;
  deposit_instructions: DepositInstruction[];
  payment_reference?: string | undefined;
  /** The page on which the payer pays. Absent without the rail `gateway_pay`. */
  payment_url?: string | undefined;
  expiration_date?: string | undefined;
  /** When the order last became `paid`. Absent before. */
  paid_at?: string | undefined;
  return_url?: string | undefined;
  cancel_url?: string | undefined;
  metadata?: Record<string, Json> | undefined;
  created_at?: string | undefined;
  updated_at?: string | undefined;
}

export interface Payment {
  id: string;
  merchant_id: string;
  order_id: string;
  status: 'received' | 'applied' | 'orphan' | 'failed' | 'refunded';
  payment_rail: Rail;
  provider_id: string;
  paid_amount: string;
  fee_amount: string;
  net_amount: string;
  currency: PaymentCurrency;
  asset?: string | undefined;
  asset_label?: string | undefined;
  credited?: boolean | undefined;
  metadata?: Record<string, Json> | undefined;
  applied_amount?: string | undefined;
  unapplied_amount?: string | undefined;
  refunded_amount?: string | undefined;
  orphan_reason?:
    | 'already_paid'
    | 'canceled'
    | 'late'
    | 'insufficient'
    | 'wrong_currency'
    | 'wrong_network'
    | 'before_order'
    | 'unknown_order'
    | 'unknown_address'
    | 'too_many_payments'
    | undefined;
  failure_reason?: string | undefined;
  tx_hash?: string | undefined;
  confirmations?: number | undefined;
  block?: { height: number; hash: string } | undefined;
  created_at: string;
  updated_at: string;
}

export interface Refund {
  id: string;
  merchant_id: string;
  payment_id: string;
  order_id: string;
  /** `recorded`: the merchant recorded that it paid the money back. */
  status: 'recorded';
  amount: string;
  currency: PaymentCurrency;
  reason?: string | undefined;
  tx_hash?: string | undefined;
  network?: string | undefined;
  destination?: string | undefined;
  created_at: string;
}

export interface Line {
  name: string;
  quantity: number;
  unit_price: string;
  currency: ItemCurrency;
}

/** `unit_price` of a discount is negative. */
export interface Item extends Line {
  /** `product` if absent. */
  kind?: 'product' | 'discount' | 'tax' | 'shipping' | undefined;
  modifiers?: Line[] | undefined;
}

export interface Capabilities {
  can_cancel: boolean;
  can_update: boolean;
  can_overpay: boolean;
  partial_payments: boolean;
  express_checkout: boolean;
  expiration_auto_renewal: boolean;
}

/** One unit of the item currency is worth `rate` units of the order's currency. */
export interface Rate {
  rate: string;
  source: string;
  quoted_at: string;
  expires_at: string;
}

export type DepositInstruction = CryptoDepositInstruction | GatewayPayInstruction;

export interface CryptoDepositInstruction {
  rail: 'crypto_deposit';
  currency: PaymentCurrency;
  network: string;
  chain_id: string;
  asset: string;
  asset_label?: string | undefined;
  address: string;
  amount: string;
  amount_units: string;
  decimals: number;
  /** Absent when the order takes no more payments, and when nothing is missing. */
  payment_uri?: string;
  required_confirmations: number;
  /** A rest below it settles the order, and a surplus below it is not due for refund. */
  smallest_payable_amount?: string;
  expires_at: string;
}

export interface GatewayPayInstruction {
  rail: 'gateway_pay';
  currency: PaymentCurrency;
  amount: string;
  provider: string;
  payment_reference: string;
  payment_url: string;
  /** Absent when the order takes no more payments. */
  qr_content?: string;
  expires_at: string;
}
