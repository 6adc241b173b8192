import { randomBytes } from 'node:crypto';
import { exampleMessage, sampleMessageOf, type WebhookEventType } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { type RenderedEvent, renderMessage } from '../delivery/render.ts';

const INSTANT = /(?<=")\d{4}-\d{2}-\d{2}T[\d:]{8}\.\d{3}Z(?=")/g;

/** The event of a test delivery: the example of a message that the services publish, with other ids, as if it happened
 *  now. Its resources are marked by `"test": true` in their metadata, and do not exist. */
export const sampleEvent = (type: WebhookEventType, merchantId: string, now: Date): RenderedEvent => {
  const example = sampleMessageOf(type);
  const payment = exampleMessage('payment.received').data.resource;
  const { refundId } = exampleMessage('payment.refunded').data.change;
  const laterMs = now.getTime() - Date.parse(example.time);
  const text = JSON.stringify(example)
    .replaceAll(example.id, newId('event', now))
    .replaceAll(example.merchantid, merchantId)
    .replaceAll(example.orderid, newId('order', now))
    .replaceAll(payment.id, newId('payment', now))
    .replaceAll(refundId, newId('refund', now))
    .replaceAll(payment.tx_hash!, `0x${randomBytes(32).toString('hex')}`)
    .replaceAll(INSTANT, (instant) => new Date(Date.parse(instant) + laterMs).toISOString());
  const message = JSON.parse(text) as typeof example;
  const { resource } = message.data;
  const metadata = { test: true };
  const payments = 'payments' in resource && { payments: resource.payments.map((each) => ({ ...each, metadata })) };
  const rendered = renderMessage({
    ...message,
    data: { ...message.data, resource: { ...resource, ...payments, metadata } },
  });
  return { ...rendered.find((event) => event.type === type)!, hash: null, isTest: true };
};
