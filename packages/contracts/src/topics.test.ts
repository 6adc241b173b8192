import { OrderEvent } from './order-events.ts';
import { PaymentEvent } from './payment-events.ts';
import { exampleMessage } from './publish/examples.ts';
import { MESSAGE_TYPES } from './publish/schemas.ts';
import { type Order, type Payment, WebhookEventType, WebhookPayload } from './resources.ts';
import {
  deadLetterTopicOf,
  type DomainMessage,
  messageTypeOf,
  OrderMessage,
  partitionKeyOf,
  PaymentMessage,
  webhookEventOf,
} from './topics.ts';

const typesOf = (message: typeof OrderMessage | typeof PaymentMessage): string[] =>
  message.options.map(({ shape }) => shape.type.value);
const eventsOf = (event: typeof OrderEvent | typeof PaymentEvent): string[] =>
  event.options.map(({ shape }) => shape.type.value);
const messageOf = (type: DomainMessage['type']) => exampleMessage(type) as DomainMessage;

test.each([
  ['OrderCreated', 'order.created'],
  ['OrderPaymentsApplied', 'order.payments_applied'],
  ['PaymentReceived', 'payment.received'],
])('%s is published as %s', (event, type) => expect(messageTypeOf(event)).toBe(type));

test('every event of an order has its message, and no message is without an event', () => {
  expect(eventsOf(OrderEvent).map(messageTypeOf)).toEqual(typesOf(OrderMessage));
});

test('every event of a payment has its message, and no message is without an event', () => {
  expect(eventsOf(PaymentEvent).map(messageTypeOf)).toEqual(typesOf(PaymentMessage));
});

test('what merchants hear of, by type; the rest is not for them', () => {
  const heard = Object.fromEntries(MESSAGE_TYPES.map((type) => [type, webhookEventOf(messageOf(type))]));
  expect(heard).toEqual({
    'order.created': 'order:created',
    'order.instructed': 'order:updated',
    'order.payment_received': null,
    'order.payment_confirmed': null,
    'order.payments_applied': 'order:updated',
    'order.payments_orphaned': null,
    'order.payment_failed': 'order:updated',
    'order.payment_refunded': 'order:updated',
    'order.paid': 'order:paid',
    'order.updated': 'order:updated',
    'order.renewed': 'order:updated',
    'order.time_advanced': 'order:updated',
    'order.expired': 'order:updated',
    'order.canceled': 'order:updated',
    'order.deleted': null,
    'payment.received': null,
    'payment.confirmed': null,
    'payment.applied': 'payment:applied',
    'payment.orphaned': null,
    'payment.failed': 'payment:failed',
    'payment.refunded': 'payment:refunded',
  });
});

test('every webhook event that can be subscribed is emitted by some message', () => {
  const emitted = new Set(MESSAGE_TYPES.map((type) => webhookEventOf(messageOf(type))));
  expect(WebhookEventType.options.filter((event) => !emitted.has(event))).toEqual([]);
});

test('the resource of a message is the body of its webhook', () => {
  for (const type of MESSAGE_TYPES) {
    const message = messageOf(type);
    const event = webhookEventOf(message);
    if (event === null) continue;
    const data = message.data.resource as Order | Payment;
    const body = { event, data, object_type: event.split(':')[0], timestamp: Date.parse(message.time) };
    expect(WebhookPayload.parse(body)).toEqual(body);
  }
});

test('messages of an order and of its payments have one key', () => {
  const keys = new Set(MESSAGE_TYPES.map((type) => partitionKeyOf(messageOf(type))));
  expect(keys).toEqual(new Set([messageOf('order.created').subject]));
});

test('dead letters have a topic of their own', () => expect(deadLetterTopicOf('orders.v1')).toBe('orders.v1.dlq'));
