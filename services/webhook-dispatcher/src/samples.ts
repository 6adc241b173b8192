import { Order, Payment, type WebhookEventType } from '@cpg/contracts';
import { newId } from '@cpg/runtime';
import { type RenderedEvent, renderEvent } from './delivery/render.ts';

/** A realistic event for a test delivery, marked by `"test": true` in the resource's metadata. Its order does not
 *  exist. */
export const sampleEvent = (type: WebhookEventType, merchantId: string, now: Date): RenderedEvent => {
  const orderId = newId('order', now);
  const sample = { merchantId, orderId, paymentId: newId('payment', now), at: now };
  return renderEvent({
    id: newId('event', now),
    type,
    time: now.toISOString(),
    sequence: '0',
    merchantid: merchantId,
    orderid: orderId,
    isTest: true,
    resource: type.startsWith('order:') ? sampleOrder(type, sample) : samplePayment(type, sample),
  });
};

interface Sample {
  readonly merchantId: string;
  readonly orderId: string;
  readonly paymentId: string;
  readonly at: Date;
}

const MINUTE_MS = 60_000;
const metadata = { test: true };

const sampleOrder = (type: WebhookEventType, sample: Sample): Order => {
  const { merchantId, orderId, at } = sample;
  const isPaid = type === 'order:paid';
  const time = at.toISOString();
  const expiresAt = new Date(at.getTime() + 60 * MINUTE_MS).toISOString();
  const remaining = isPaid ? '0.000000' : '25.000000';
  return Order.parse({
    id: orderId,
    external_reference_id: 'test-order',
    merchant_id: merchantId,
    items: [{ name: 'Sample item', quantity: 1, unit_price: '25.00', currency: 'USD' }],
    payments: isPaid ? [samplePayment('payment:applied', sample)] : [],
    status: isPaid ? 'paid' : 'awaiting_payment',
    total_amount: '25.000000',
    remaining_amount: remaining,
    currency: 'USDC',
    rates: { USD: { rate: '1', source: 'sample', quoted_at: time, expires_at: expiresAt } },
    capabilities: {
      can_cancel: true,
      can_update: true,
      can_overpay: false,
      partial_payments: true,
      express_checkout: false,
      expiration_auto_renewal: false,
    },
    deposit_instructions: [
      {
        rail: 'gateway_pay',
        currency: 'USDC',
        amount: remaining,
        provider: 'sample',
        payment_reference: 'TEST-0001',
        payment_url: 'https://pay.example.com/TEST-0001',
        qr_content: 'https://pay.example.com/TEST-0001',
        expires_at: expiresAt,
      },
    ],
    expiration_date: expiresAt,
    metadata,
    created_at: time,
    ...(type !== 'order:created' && { updated_at: time }),
  });
};

const PAYMENT_STATES = {
  'payment:applied': { status: 'applied', applied_amount: '25.000000' },
  'payment:failed': { status: 'failed', failure_reason: 'dropped' },
  'payment:refunded': { status: 'refunded', applied_amount: '25.000000', refunded_amount: '25.000000' },
} as const;

const samplePayment = (type: WebhookEventType, { merchantId, orderId, paymentId, at }: Sample): Payment =>
  Payment.parse({
    id: paymentId,
    merchant_id: merchantId,
    order_id: orderId,
    payment_rail: 'gateway_pay',
    provider_id: 'test-0001',
    paid_amount: '25.000000',
    fee_amount: '0.125000',
    net_amount: '24.875000',
    currency: 'USDC',
    metadata,
    ...PAYMENT_STATES[type as keyof typeof PAYMENT_STATES],
    created_at: at.toISOString(),
    updated_at: at.toISOString(),
  });
