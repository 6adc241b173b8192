import { type DomainMessage, type WebhookEventType, webhookEventOf } from '@cpg/contracts';
import type { StoredEvent } from './delivery.ts';

/** An event as it is stored and sent, with what decides who gets it. */
export interface ToldEvent extends StoredEvent {
  /** UTC day on which it happened, `2026-01-31`. */
  readonly day: string;
  readonly type: WebhookEventType;
  readonly merchantId: string;
  readonly orderId: string;
  /** A sample, which tells of nothing that happened. */
  readonly isTest: boolean;
}

/** What merchants are told of a message, rendered once for all endpoints and attempts; null when it is not for them. */
export const tell = (message: DomainMessage): ToldEvent | null => {
  const type = webhookEventOf(message);
  return type && told({ ...message, type, resource: message.data.resource });
};

interface Telling {
  readonly id: string;
  readonly type: WebhookEventType;
  readonly time: string;
  readonly sequence: string;
  readonly merchantid: string;
  readonly orderid: string;
  readonly resource: unknown;
  readonly isTest?: boolean;
}

export const told = ({
  id,
  type,
  time,
  sequence,
  merchantid,
  orderid,
  resource,
  isTest = false,
}: Telling): ToldEvent => {
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
