import { ORDER_EVENTS } from './order-events.ts';
import { PAYMENT_EVENTS } from './payment-events.ts';
import { exampleMessage, sampleMessageOf } from './examples.ts';
import { MESSAGE_TYPES } from './publish/schemas.ts';
import type { Order } from './resources/order.ts';
import type { Payment } from './resources/payment.ts';
import { WebhookEventType, WebhookPayload } from './resources/webhook.ts';
import {
  deadLetterTopicOf,
  type DomainMessage,
  messageTypeOf,
  ORDER_MESSAGES,
  OrderMessage,
  partitionKeyOf,
  PAYMENT_MESSAGES,
  PaymentMessage,
  ResourceMessage,
  webhookEventsOf,
} from './topics.ts';

const messageOf = (type: DomainMessage['type']) => exampleMessage(type) as DomainMessage;

test.each([
  ['OrderCreated', 'order.created'],
  ['OrderPaymentsApplied', 'order.payments_applied'],
  ['PaymentReceived', 'payment.received'],
])('%s is published as %s', (event, type) => expect(messageTypeOf(event)).toBe(type));

test('every event of an order is published, a deletion by its own record', () => {
  const published = ORDER_EVENTS.filter(({ type }) => type !== 'OrderDeleted').map(({ type }) => messageTypeOf(type));
  expect([...published, 'order.deleted']).toEqual(ORDER_MESSAGES.map(({ message }) => message));
  expect(messageTypeOf('OrderDeleted')).toBeNull();
  expect(messageTypeOf('OrderDeletionRecorded')).toBe('order.deleted');
});

test('every event of a payment is published', () => {
  expect(PAYMENT_EVENTS.map(({ type }) => messageTypeOf(type))).toEqual(PAYMENT_MESSAGES.map(({ message }) => message));
});

test('an event type of a newer version has no message', () => expect(messageTypeOf('OrderGifted')).toBeNull());

test('the message type is the event type, dotted', () => {
  const words = (type: string) => type.match(/[A-Z][a-z]*/g)!.map((word) => word.toLowerCase());
  for (const { type, message } of [...ORDER_EVENTS, ...PAYMENT_EVENTS]) {
    const [noun, ...rest] = words(type);
    if (message !== null) expect(message).toBe(`${noun}.${rest.join('_')}`);
  }
});

describe('a message of a newer version', () => {
  const message = messageOf('order.paid');

  test('keeps the fields that are unknown, wherever they are', () => {
    const newer = {
      ...message,
      traceparent: '00-1',
      data: { change: { ...message.data.change, tip: '1' }, resource: { ...message.data.resource, tip: '1' } },
    };
    expect(OrderMessage.parse(newer)).toEqual(newer);
  });

  test('is accepted when its type is unknown, and has no webhook event', () => {
    const newer = { ...message, type: 'order.gifted', data: { change: { giftedTo: 'Ana' }, resource: null } };
    expect(OrderMessage.parse(newer)).toEqual(newer);
    expect(PaymentMessage.parse({ ...newer, type: 'payment.gifted' })).toMatchObject({ type: 'payment.gifted' });
    expect(webhookEventsOf(newer as unknown as DomainMessage)).toEqual([]);
  });

  test('is refused when its envelope is broken or a known field is missing', () => {
    expect(OrderMessage.safeParse({ ...message, type: 'order.gifted', orderid: undefined }).success).toBe(false);
    const change = { reason: 'payment_applied' };
    expect(OrderMessage.safeParse({ ...message, data: { ...message.data, change } }).success).toBe(false);
  });
});

test('a consumer of resources checks the envelope and that there is a resource, but not the change', () => {
  const message = messageOf('order.paid');
  const accepts = (changed: object) => ResourceMessage.safeParse({ ...message, ...changed }).success;
  const { resource } = message.data;
  expect(accepts({ data: { change: 'any', resource } })).toBe(true);
  expect(accepts({ type: 'order.gifted', data: undefined })).toBe(true);
  expect([{ sequence: 'one' }, { data: {} }, { data: undefined }].map(accepts)).toEqual([false, false, false]);
});

test('merchants receive every message of an order with an order, and no message with another resource', () => {
  for (const { message } of ORDER_MESSAGES) {
    const isDeleted = message === 'order.deleted';
    expect([message, webhookEventsOf({ type: message }).length > 0]).toEqual([message, !isDeleted]);
  }
  for (const type of MESSAGE_TYPES)
    for (const event of webhookEventsOf({ type })) expect(event.split(':')[0]).toBe(type.split('.')[0]);
});

test.each(WebhookEventType.options)('the sample of %s is a message that causes it', (event) =>
  expect(webhookEventsOf(sampleMessageOf(event))).toContain(event),
);

test('the resource of a message is the data of its webhooks', () => {
  for (const message of MESSAGE_TYPES.map(messageOf))
    for (const event of webhookEventsOf(message)) {
      const data = message.data.resource as Order | Payment;
      const body = { event, data, object_type: event.split(':')[0], timestamp: Date.parse(message.time) };
      expect(WebhookPayload.parse(body)).toEqual(body);
    }
});

test('an order and its payments share one partition key', () => {
  const keys = new Set(MESSAGE_TYPES.map((type) => partitionKeyOf(messageOf(type))));
  expect(keys).toEqual(new Set([messageOf('order.created').subject]));
});

test('each topic has its own dead-letter topic', () => expect(deadLetterTopicOf('orders.v1')).toBe('orders.v1.dlq'));
