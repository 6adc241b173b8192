import { ORDER_EXAMPLES } from './examples/order-events.ts';
import { PAYMENT_EXAMPLES } from './examples/payment-events.ts';
import { MERCHANT, ORDER, PAYMENT } from './examples/values.ts';
import { WEBHOOK_EVENTS, type WebhookEventType, WebhookPayload } from './resources/webhook.ts';
import { refundIn } from './refund-view.ts';
import { type DomainMessage, schemaIdOf } from './topics.ts';

const EXAMPLES = { ...ORDER_EXAMPLES, ...PAYMENT_EXAMPLES };

/** An example of a whole message. */
export const exampleMessage = <T extends DomainMessage['type']>(type: T) => {
  const { sequence, ...data } = EXAMPLES[type];
  return {
    specversion: '1.0' as const,
    id: 'evt_01KGA4T3G6Z5Y7X9W1V3T5R7Q9',
    source: type.startsWith('order.') ? '/orders' : '/payments',
    type,
    subject: type.startsWith('order.') ? ORDER : PAYMENT,
    time: EXAMPLES[type].change.at,
    datacontenttype: 'application/json' as const,
    dataschema: schemaIdOf(type),
    sequence,
    actor: 'service:payments',
    correlationid: 'req_01KGA4S9HNRV4Q0K2M8B6D1C3F',
    causationid: 'evt_01KGA4T2B4A6C8E0G2J4M6P8R0',
    merchantid: MERCHANT,
    orderid: ORDER,
    cpghash: '3b1f0c8de4a97526c0d1f3b58a6e92475d0c4b7ea1f862935c7d0e4b9a86f213',
    data,
  };
};

/** The message that is the sample of a webhook event. */
export const sampleMessageOf = (event: WebhookEventType) => exampleMessage(WEBHOOK_EVENTS[event].sample);

/** The body of a webhook event, from its sample. */
export const samplePayloadOf = (event: WebhookEventType): WebhookPayload => {
  const { type, time, data } = sampleMessageOf(event);
  const object_type = event.split(':')[0];
  const refund = refundIn({ type, data });
  const order = 'order' in data ? data.order : undefined;
  const timestamp = Date.parse(time);
  return WebhookPayload.parse({
    event,
    data: data.resource,
    object_type,
    ...(order !== undefined && { order }),
    ...(refund && { refund }),
    timestamp,
  });
};
