import {
  derivedId,
  hasMetadata,
  type Metadata,
  refundIn,
  type ResourceMessage,
  type WebhookEventType,
  webhookEventsOf,
  type WebhookFilter,
} from '@cpg/contracts';
import type { StoredEvent } from './delivery.ts';

/** An event as it is stored and sent, with the fields that select its recipients. */
export interface RenderedEvent extends StoredEvent {
  /** UTC day on which it happened, `2026-01-31`. */
  readonly day: string;
  readonly type: WebhookEventType;
  readonly merchantId: string;
  readonly orderId: string;
  /** The metadata of the order, as the event shows it. Empty if it has none, or the event is about no order. */
  readonly orderMetadata: Metadata;
  /** A sample event of a test delivery. */
  readonly isTest: boolean;
}

/** Renders the webhook events of a message once, for all endpoints and attempts. */
export const renderMessage = (message: ResourceMessage, types = webhookEventsOf(message)): RenderedEvent[] => {
  const { id, time, sequence, cpghash: hash, merchantid: merchantId, orderid: orderId, data } = message;
  const occurredMs = Date.parse(time);
  const refund = refundIn(message);
  const orderMetadata = orderMetadataIn(message);
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
      hash,
      merchantId,
      orderId,
      orderMetadata,
      isTest: false,
      body: Buffer.from(JSON.stringify(payload)),
    };
  });
};

/** An event about an order shows the order itself. An event about a payment shows how the merchant knows its order. */
const orderMetadataIn = ({ type, data }: ResourceMessage): Metadata =>
  (type.startsWith('order.') ? data.resource : data.order)?.metadata ?? {};

/** Whether the filter of a webhook lets an event through. The metadata of the event counts, so a replay selects the
 *  same events. */
export const passes = (filter: WebhookFilter | null, { orderMetadata }: RenderedEvent): boolean =>
  filter === null || hasMetadata(orderMetadata, filter);
