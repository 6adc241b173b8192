import {
  type Delivery,
  type DeliveryWithAttempts,
  type HistoryEntry,
  type Merchant,
  type MerchantCreateOrderDto,
  type Order,
  type Payment,
  type PaymentPageSettings,
  type PaymentPageSettingsDto,
  type ProviderPayment,
  type Refund,
  type Replay,
  sampleMessageOf,
  type Webhook,
  type WebhookEventType,
  WebhookPayload,
} from '@cpg/contracts';

const merchantId = 'mer_01KG9Q0A1B2C3D4E5F6G7H8J9K';
const orderId = 'ord_01KG9Q1S5T6V7W8X9Y0Z1A2B3C';

export const createOrder: MerchantCreateOrderDto = {
  external_reference_id: 'invoice-1042',
  items: [
    {
      name: 'Dinner for two',
      quantity: 1,
      unit_price: '850.00',
      currency: 'MXN',
      modifiers: [{ name: 'Service', quantity: 1, unit_price: '85.00', currency: 'MXN' }],
    },
  ],
  enable_rails: ['crypto_deposit'],
  payment_currency: 'USDC',
  capabilities: {
    can_cancel: true,
    can_update: true,
    can_overpay: false,
    partial_payments: true,
    express_checkout: false,
    expiration_auto_renewal: false,
  },
  expiration_minutes: 60,
  return_url: 'https://lafonda.example/thanks?table=B7',
  cancel_url: 'https://lafonda.example/cart',
  metadata: { table: 'B7' },
};

export const order: Order = {
  id: orderId,
  external_reference_id: createOrder.external_reference_id,
  merchant_id: merchantId,
  items: createOrder.items,
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
  capabilities: createOrder.capabilities,
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
  return_url: 'https://lafonda.example/thanks?table=B7',
  cancel_url: 'https://lafonda.example/cart',
  metadata: { table: 'B7' },
  created_at: '2026-01-31T12:00:00.000Z',
  updated_at: '2026-01-31T12:00:00.000Z',
};

export const providerPayment: ProviderPayment = {
  order_id: orderId,
  external_reference_id: 'acme-7f3a91',
  amount: '52.4722',
  currency: 'USDC',
  paid_at: '2026-01-31T12:04:02.000Z',
};

export const payment: Payment = {
  id: 'pay_01KG9Q3D4E5F6G7H8J9K0M1N2P',
  merchant_id: merchantId,
  order_id: orderId,
  status: 'applied',
  payment_rail: 'crypto_deposit',
  provider_id: '0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060:3',
  paid_amount: '52.472200',
  fee_amount: '0.524722',
  net_amount: '51.947478',
  currency: 'USDC',
  applied_amount: '52.472200',
  unapplied_amount: '0.000000',
  refunded_amount: '0.000000',
  created_at: '2026-01-31T12:04:10.000Z',
  updated_at: '2026-01-31T12:04:34.000Z',
};

export const refund: Refund = {
  id: 'rfd_01KG9Q4B5C6D7E8F9G0H1J2K3M',
  merchant_id: merchantId,
  payment_id: payment.id,
  order_id: orderId,
  amount: '10.500000',
  currency: 'USDC',
  reason: 'one dish was not served',
  created_at: '2026-01-31T15:20:00.000Z',
};

export const historyEntry: HistoryEntry = {
  id: 'evt_01KG9Q2T8Q1A2B3C4D5E6F7G8H',
  stream: `payment-${payment.id}`,
  order_id: orderId,
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
  data: { order_id: orderId, applied_amount: '52.472200', unapplied_amount: '0.000000' },
};

export const registerPayment = {
  order_id: orderId,
  payment_rail: 'crypto_deposit',
  amount: '52.4722',
  currency: 'USDC',
};

export const merchant: Merchant = {
  id: merchantId,
  external_reference_id: 'crm-7731',
  type: 'business',
  payment_methods: [{ type: 'crypto_deposit', supported_currencies: ['USDC', 'BTC'], deposit_instructions: {} }],
  business_profile: { business_name: 'La Fonda', contact_email: 'hola@lafonda.example' },
  created_at: '2026-01-02T09:30:00.000Z',
};

export const replacePaymentPageSettings: PaymentPageSettingsDto = {
  display_name: 'La Fonda',
  accent_color: '#0a7d5c',
  logo: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=',
  frame_ancestors: ['https://lafonda.example'],
};

export const paymentPageSettings: PaymentPageSettings = {
  display_name: 'La Fonda',
  accent_color: '#0a7d5c',
  logo_url: '/pay/logos/738382d599f02600f331d68ed2c78ba057d8541deb65712d27531059bb86191e.png',
  frame_ancestors: ['https://lafonda.example'],
  updated_at: '2026-01-31T12:00:00.000Z',
};

export const webhook: Webhook = {
  id: 'whk_01KG9Q4F5G6H7J8K9M0N1P2Q3R',
  merchant_id: merchantId,
  url: 'https://shop.example/hooks/payments',
  events: ['order:paid', 'payment:applied'],
  is_enabled: false,
  created_at: '2026-01-31T12:00:00.000Z',
};

export const webhookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwJz0Tk8mZ2Xo=';

/** The body of a webhook event, from the example of its message. */
export const payloadOf = (event: WebhookEventType): WebhookPayload => {
  const { time, data } = sampleMessageOf(event);
  return WebhookPayload.parse({
    event,
    data: data.resource,
    object_type: event.split(':')[0],
    timestamp: Date.parse(time),
  });
};

export const delivery: Delivery = {
  id: 'dlv_01KG9Q2T8R7M5N3V1X0Z4Y6W8S',
  webhook_id: webhook.id,
  event_id: 'evt_01KG9Q2T8Q1A2B3C4D5E6F7G8H',
  event_type: 'payment:applied',
  status: 'pending',
  attempt_count: 1,
  next_attempt_at: '2026-01-31T12:08:15.512Z',
  created_at: '2026-01-31T12:08:10.021Z',
  updated_at: '2026-01-31T12:08:10.512Z',
};

export const deliveryWithAttempts: DeliveryWithAttempts = {
  ...delivery,
  attempts: [
    {
      number: 1,
      outcome: 'refused',
      started_at: '2026-01-31T12:08:10.023Z',
      duration_ms: 487,
      status_code: 503,
      response: 'down for maintenance',
    },
  ],
  payload: payloadOf('payment:applied'),
};

export const replayWebhook = { from_date: '2026-01-31T00:00:00Z', to_date: '2026-02-01T00:00:00Z' };

export const replay: Replay = {
  id: 'rpl_01KG9Q2T8R7M5N3V1X0Z4Y6W9R',
  webhook_id: webhook.id,
  status: 'running',
  from_date: '2026-01-31T00:00:00.000Z',
  to_date: '2026-02-01T00:00:00.000Z',
  event_types: webhook.events,
  queued_events: 120,
  deferred_orders: 0,
  reached_date: '2026-01-31T09:30:00.000Z',
  created_at: '2026-02-01T12:00:00.000Z',
};
