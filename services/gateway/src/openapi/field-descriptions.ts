import type { Document } from './simplify-schemas.ts';

type Node = Record<string, unknown> & { properties?: Record<string, Node>; items?: Node; description?: string };

/** Descriptions of fields that have the same meaning in every schema. */
const SHARED: Record<string, string> = {
  merchant_id: 'The merchant that owns it: `mer_` and a ULID.',
  webhook_id: 'The webhook: `whk_` and a ULID.',
  event_type: 'The type of the event.',
  created_at: 'When it was created: ISO 8601, UTC, milliseconds.',
  updated_at: 'When it last changed: ISO 8601, UTC, milliseconds.',
  external_reference_id: 'Your own reference. It need not be unique.',
  metadata: 'Your own data. It is stored and returned, and has no effect.',
  currency: 'The currency.',
  deleted: 'Always `true`.',
  events: 'The types of events that the webhook receives.',
  is_enabled: 'Whether events are delivered. The configuration is kept while it is `false`.',
  items: 'The items of this page.',
  limit: 'The maximum number of items per page.',
  count: 'The number of items in this page.',
  total: 'The exact number of matching items over all pages, also with filters and dates.',
  page: 'The number of this page; 1 with a `cursor`.',
  totalPages: 'The number of pages; 0 if nothing matches.',
  next_cursor: 'The `cursor` of the next page. Absent on the last page.',
};

/** Descriptions of the fields of one schema. A request schema `XDto` uses those of `X`. */
const OWN: Record<string, Record<string, string>> = {
  Address: {
    street: 'Street and number.',
    city: 'City or town.',
    state: 'State, province or region.',
    postal_code: 'Postal code.',
  },
  AdvanceTime: { minutes: 'How far to advance the clock of the order, in minutes.' },
  BusinessProfile: {
    business_name: 'The name of the business.',
    contact_email: 'The email address for questions.',
    contact_phone: 'The phone number for questions.',
    address: 'The address of the business.',
  },
  Capabilities: {
    can_cancel: 'Whether the order can be canceled.',
    can_update: 'Whether the order can be changed by PATCH.',
    can_overpay: 'Whether a payment of more than remains is applied in full. If not, the surplus is due for refund.',
    partial_payments:
      'Whether payments of less than remains are applied. If not, they are held until all of them settle the order.',
    express_checkout: 'Whether the hosted payment page goes straight to the instructions of the first rail.',
    expiration_auto_renewal:
      'Whether the order gets new rates and a new deadline instead of expiring, at most 24 times.',
  },
  CreateWebhook: { url: 'A public HTTPS URL. It cannot be changed later.' },
  CryptoDepositInstruction: {
    rail: 'The rail: a deposit on a chain.',
    currency: 'The asset to send.',
    network: 'The name of the network.',
    address: 'The address to send to. It belongs to this order alone.',
    amount: 'The amount that is still missing, beside payments that are received and not applied yet.',
    amount_units: 'The same amount in the smallest units of the asset.',
    decimals: 'The decimals of the asset on this network.',
    payment_uri: 'A link or QR code that wallets read: BIP 21 or EIP-681.',
    required_confirmations: 'The number of blocks after which a payment counts.',
    expires_at: 'Until when the instruction is valid.',
  },
  Delivery: {
    attempt_count: 'How many attempts were made.',
  },
  DeliveryAttempt: {
    number: 'The number of the attempt, from 1.',
    started_at: 'When the attempt started.',
    duration_ms: 'How long the attempt took, in milliseconds.',
  },
  Error: {
    error: 'The kind of error, for people.',
    message: 'The reason, for people. The text can change.',
    statusCode: 'The HTTP status.',
    code: 'A stable identifier. Base your error handling on it. [All codes](/docs/errors)',
    request_id: 'The id of the request. Include it when you contact support.',
    details: 'Only with status 400: one entry per invalid field or parameter, 20 at most.',
    'details.path': 'The field or parameter, like `items.0.unit_price`.',
    'details.message': 'What is wrong with it.',
  },
  GatewayPayInstruction: {
    rail: 'The rail: a payment through a provider.',
    currency: 'The currency to pay in.',
    amount: 'The amount that remains to be paid.',
    provider: 'The name of the payment provider.',
    payment_reference: 'The reference of the order at the provider.',
    payment_url: 'The page on which the payer pays.',
    qr_content: 'The content of a QR code that the payer scans.',
    expires_at: 'Until when the instruction is valid.',
  },
  HistoryEntry: { id: 'The event: `evt_` and a ULID.' },
  IndividualProfile: {
    first_name: 'First name.',
    last_name: 'Last name.',
    email: 'Email address.',
    phone: 'Phone number.',
  },
  Item: {
    name: 'What is sold.',
    quantity: 'How many: more than 0, with at most 6 decimals.',
    unit_price: 'The price of one unit.',
    currency: 'The currency of the price. It is converted into the currency of the order at a locked rate.',
    modifiers: 'Additions to the item, such as a side dish. Each counts once per unit of its own quantity.',
  },
  Merchant: {
    id: 'The merchant: `mer_` and a ULID.',
    external_reference_id: 'The id of the merchant in an external system.',
    type: 'Whether the merchant is a person or a business.',
    payment_methods:
      'The rails and currencies that the merchant accepts, without those that are unavailable at the moment.',
    individual_profile: 'Present only if `type` is `individual`.',
    business_profile: 'Present only if `type` is `business`.',
  },
  ProviderPayment: {
    order_id: 'The order that is paid, as in the request that created the payment page.',
    external_reference_id: "The provider's id of the payment. The same id is the same payment.",
    amount: 'What was paid.',
    currency: 'The currency of the amount.',
    paid_at: 'When it was paid. By default when it is reported.',
  },
  RecordedProviderPayment: {
    payment_id: 'The payment: `pay_` and a ULID.',
    status: 'The state of the payment.',
    has_order: 'Whether the order exists. If not, the payment is an `orphan`.',
  },
  MerchantCreateOrder: {
    items: 'What is sold. The sum of the items is the amount due.',
    enable_rails: 'How the payer may pay. Each rail at most once.',
    payment_currency: 'The currency in which the order is paid.',
    capabilities: 'What may happen to the order.',
    expiration_minutes: 'Minutes until the order expires. By default 60.',
    underpayment_tolerance_percent:
      'The part of the total that may be missing, with at most 2 decimals. By default, that of the merchant.',
    return_url:
      'Your page to which the payment page sends the payer after the payment, with `order_id` and `status` in the query. An `https` URL without credentials and fragment; it is never fetched. Anyone can open it with any values: retrieve the order before you trust them.',
    cancel_url:
      'Your page to which the payment page leads a payer who does not want to pay, or cannot any more. Same rules as `return_url`.',
  },
  Order: {
    id: 'The order: `ord_` and a ULID.',
    items: 'What is sold.',
    payments: 'The payments of the order, oldest first.',
    status: 'The state of the order.',
    status_reason: 'Why the order has its status.',
    total_amount: 'The amount due.',
    remaining_amount: 'The amount that remains to be paid. Zero for a paid order.',
    currency: 'The currency in which the order is paid.',
    rates: 'The locked exchange rates, by item currency.',
    capabilities: 'What may happen to the order.',
    deposit_instructions: 'How to pay, one instruction per rail and network.',
    payment_reference: 'The reference that the payer gives, if the rail has one.',
    expiration_date: 'The deadline for payment.',
    return_url: 'Your page for a payer who has paid, as in the request.',
    cancel_url: 'Your page for a payer who does not pay, as in the request.',
  },
  OrderDeletion: { id: 'The order that was deleted.' },
  OrderHistoryPage: { items: 'Recorded events, oldest first.' },
  Payment: {
    id: 'The payment: `pay_` and a ULID.',
    status: 'The state of the payment.',
    payment_rail: 'How it was paid.',
    provider_id:
      'What identifies the money at its source: a transaction and its output on a chain, or the id at the provider.',
    paid_amount: 'The amount that was paid.',
    fee_amount: 'The fee of the gateway.',
    net_amount: '`paid_amount` without `fee_amount`.',
    orphan_reason:
      'Why the payment does not count by itself. Present only if it is an `orphan`. `insufficient`: it came in time, and was too little for an order that takes no partial payments. `before_order`: it is older on its chain than the address of the order. `wrong_network`: it is on a network, or from a provider, that the order does not show.',
    failure_reason:
      'Why the rail dropped or reversed the payment. On a chain: `dropped` (never mined), `reorg` (its block left the chain), `double_spend` (its coins were spent elsewhere), `replaced` (the payer sent it anew, for example with a higher fee: the replacement is a payment of its own).',
    tx_hash: 'The transaction on the chain.',
    confirmations:
      'The number of blocks from the payment to the newest one at the last change of the payment: when it arrived, was confirmed, or changed its block. It does not grow with later blocks: compare `block.height` with the newest block of the chain.',
    block: 'The block of the chain that contains the payment. Absent before it is mined, and on `gateway_pay`.',
  },
  PaymentMethod: {
    type: 'The rail.',
    supported_currencies: 'The currencies that the merchant accepts on this rail.',
    deposit_instructions: 'Settings of the rail.',
  },
  PaymentPageSettings: {
    display_name: 'The name that payers see: by default the name of the profile.',
    accent_color:
      'The color of buttons and links, like `#0a7d5c`. The page darkens or brightens it where the contrast would be below 4.5 to 1.',
    logo: 'A PNG, JPEG or WebP image in base64: at most 1 MiB, 16 million pixels, and 8192 pixels on a side. It is scaled down and encoded again as a PNG of at most 100 KiB. `null` removes it. Absent: the stored one stays.',
    logo_url: 'The path of the logo on the gateway. It changes with the logo.',
    frame_ancestors:
      'Origins whose pages may embed the payment page, like `https://shop.example`: at most 10. By default none.',
  },
  Rate: {
    rate: 'How many units of the payment currency one unit of the item currency is worth.',
    source: 'Where the rate comes from.',
    quoted_at: 'When the rate was quoted.',
    expires_at: 'Until when the rate is locked.',
  },
  Refund: { id: 'The refund: `rfd_` and a ULID.' },
  RegisterPayment: {
    order_id: 'The order that is paid.',
    payment_rail: 'How it is paid. The order must have this rail.',
    amount: 'The amount that is paid.',
  },
  Replay: {
    id: 'The replay: `rpl_` and a ULID.',
    from_date: 'The start of the range.',
    event_types: 'The types of events that are replayed.',
  },
  TestDelivery: { delivery_id: 'The delivery: `dlv_` and a ULID.' },
  UpdateOrder: {
    expiration_minutes:
      'Minutes from now until the order expires. Only while the order is open. The locked rates move with it, up to 24 hours from their quote by default.',
  },
  Webhook: { id: 'The webhook: `whk_` and a ULID.', url: 'The URL that receives the events.' },
  WebhookDeletion: { id: 'The webhook that was deleted.' },
  OrderWebhookPayload: {
    event: 'What happened.',
    data: 'The order right after the event.',
    object_type: 'The type of `data`.',
  },
  PaymentWebhookPayload: {
    event: 'What happened.',
    data: 'The payment right after the event.',
    object_type: 'The type of `data`.',
  },
};

const ALIASES: Record<string, string> = {
  Modifier: 'Item',
  WebhookWithSecret: 'Webhook',
  DeliveryWithAttempts: 'Delivery',
};

/** The fields that have a description of their own, as `Schema.field`. */
export const describedFields = (): string[] =>
  Object.entries(OWN).flatMap(([name, fields]) => Object.keys(fields).map((field) => `${name}.${field}`));

/** Describes every field that its schema does not describe. */
export const describeFields = <T extends Document>(document: T): T => {
  const schemas = Object.entries(document.components.schemas as Record<string, Node>).map(([name, schema]) => {
    const base = name.replace(/Dto$/, '');
    return [name, described(schema, ALIASES[base] ?? base, '')] as const;
  });
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(schemas) } };
};

const described = (schema: Node, name: string, prefix: string): Node => ({
  ...schema,
  ...(schema.items && { items: described(schema.items, name, prefix) }),
  ...(schema.properties && {
    properties: Object.fromEntries(
      Object.entries(schema.properties).map(([field, value]) => {
        const path = `${prefix}${field}`;
        const description = value.description ?? OWN[name]?.[path] ?? SHARED[field];
        return [field, { ...described(value, name, `${path}.`), ...(description !== undefined && { description }) }];
      }),
    ),
  }),
});
