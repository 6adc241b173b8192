import { derivedId, refundIn, type ResourceMessage, type WebhookEventType, webhookEventsOf } from '@cpg/contracts';
import type { StoredEvent } from './delivery.ts';

/** An event as it is stored and sent, with the fields that select its recipients. */
export interface RenderedEvent extends StoredEvent {
  /** UTC day on which it happened, `2026-01-31`. */
  readonly day: string;
  readonly type: WebhookEventType;
  readonly merchantId: string;
  readonly orderId: string;
  /** A sample event of a test delivery. */
  readonly isTest: boolean;
}

/** Renders the webhook events of a message once, for all endpoints and attempts. */
export const renderMessage = (message: ResourceMessage, types = webhookEventsOf(message)): RenderedEvent[] => {
  const { id, time, sequence, merchantid: merchantId, orderid: orderId, data } = message;
  const occurredMs = Date.parse(time);
  const refund = refundIn(message);
  return types.map((type, index) => {
    const payload = {
      event: type,
      data: data.resource,
      object_type: type.split(':')[0],
      ...(data.order && { order: data.order }),
      ...(refund && { refund }),
      timestamp: occurredMs,
    };
    return {
      // The same ids each time: a repeat of the message stores nothing.
      id: index === 0 ? id : derivedId('event', `${id}/${type}`),
      type,
      day: time.slice(0, 10),
      occurredMs,
      sequence,
      merchantId,
      orderId,
      isTest: false,
      body: Buffer.from(JSON.stringify(payload)),
    };
  });
};
