import { type ResourceMessage, type WebhookEventType, webhookEventOf } from '@cpg/contracts';
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

/** Renders a message once, for all endpoints and attempts. Null when no webhook event stands for it. */
export const renderMessage = (message: ResourceMessage): RenderedEvent | null => {
  const type = webhookEventOf(message);
  return type && renderEvent({ ...message, type, resource: message.data.resource });
};

interface EventFields {
  readonly id: string;
  readonly type: WebhookEventType;
  readonly time: string;
  readonly sequence: string;
  readonly merchantid: string;
  readonly orderid: string;
  readonly resource: unknown;
  readonly isTest?: boolean;
}

const renderEvent = (fields: EventFields): RenderedEvent => {
  const { id, type, time, sequence, merchantid, orderid, resource, isTest = false } = fields;
  const occurredMs = Date.parse(time);
  const payload = { event: type, data: resource, object_type: type.split(':')[0], timestamp: occurredMs };
  return {
    id,
    type,
    day: time.slice(0, 10),
    occurredMs,
    sequence,
    merchantId: merchantid,
    orderId: orderid,
    isTest,
    body: Buffer.from(JSON.stringify(payload)),
  };
};
