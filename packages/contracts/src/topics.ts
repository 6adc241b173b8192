import { z } from 'zod';
import { envelopeOf } from './envelope.ts';
import * as orderEvents from './order-events.ts';
import * as paymentEvents from './payment-events.ts';
import { Order, Payment, type WebhookEventType } from './resources.ts';

const order = <T extends string, S extends { shape: { data: z.ZodType } }>(type: T, event: S) =>
  envelopeOf(type, event.shape.data as S['shape']['data'], Order);

const payment = <T extends string, S extends { shape: { data: z.ZodType } }>(type: T, event: S) =>
  envelopeOf(type, event.shape.data as S['shape']['data'], Payment);

/** Topic `orders.v1`: one CloudEvents type per domain event of an order. */
export const OrderMessage = z.discriminatedUnion('type', [
  order('order.created', orderEvents.OrderCreated),
  order('order.instructed', orderEvents.OrderInstructed),
  order('order.payment_received', orderEvents.OrderPaymentReceived),
  order('order.payment_confirmed', orderEvents.OrderPaymentConfirmed),
  order('order.payments_applied', orderEvents.OrderPaymentsApplied),
  order('order.payments_orphaned', orderEvents.OrderPaymentsOrphaned),
  order('order.payment_failed', orderEvents.OrderPaymentFailed),
  order('order.payment_refunded', orderEvents.OrderPaymentRefunded),
  order('order.paid', orderEvents.OrderPaid),
  order('order.updated', orderEvents.OrderUpdated),
  order('order.renewed', orderEvents.OrderRenewed),
  order('order.time_advanced', orderEvents.OrderTimeAdvanced),
  order('order.expired', orderEvents.OrderExpired),
  order('order.canceled', orderEvents.OrderCanceled),
  envelopeOf('order.deleted', orderEvents.OrderDeletionRecorded.shape.data, z.null()),
]);
export type OrderMessage = z.infer<typeof OrderMessage>;

/** Topic `payments.v1`: one CloudEvents type per domain event of a payment. */
export const PaymentMessage = z.discriminatedUnion('type', [
  payment('payment.received', paymentEvents.PaymentReceived),
  payment('payment.confirmed', paymentEvents.PaymentConfirmed),
  payment('payment.applied', paymentEvents.PaymentApplied),
  payment('payment.orphaned', paymentEvents.PaymentOrphaned),
  payment('payment.failed', paymentEvents.PaymentFailed),
  payment('payment.refunded', paymentEvents.PaymentRefunded),
]);
export type PaymentMessage = z.infer<typeof PaymentMessage>;

export type DomainMessage = OrderMessage | PaymentMessage;

/** The topics, their messages and their key. Every message of an order and of its payments has the same key, so it is read in order. */
export const TOPICS = {
  orders: { name: 'orders.v1', message: OrderMessage },
  payments: { name: 'payments.v1', message: PaymentMessage },
} as const;

export const DEFAULT_PARTITIONS = 12;

export const partitionKeyOf = (message: DomainMessage): string => message.orderid;

/** Where a consumer parks what it cannot process. */
export const deadLetterTopicOf = (topic: string): string => `${topic}.dlq`;

/** The CloudEvents type of a domain event: `OrderPaymentsApplied` is `order.payments_applied`. */
export const messageTypeOf = (eventType: string): string => {
  const words = eventType.match(/[A-Z][a-z]*/g) ?? [eventType];
  const [noun, ...rest] = words.map((word) => word.toLowerCase());
  return `${noun}.${rest.join('_')}`;
};

const WEBHOOK_EVENTS: Partial<Record<DomainMessage['type'], WebhookEventType>> = {
  'order.created': 'order:created',
  'order.instructed': 'order:updated',
  'order.payments_applied': 'order:updated',
  'order.payment_failed': 'order:updated',
  'order.payment_refunded': 'order:updated',
  'order.updated': 'order:updated',
  'order.renewed': 'order:updated',
  'order.time_advanced': 'order:updated',
  'order.expired': 'order:updated',
  'order.canceled': 'order:updated',
  'order.paid': 'order:paid',
  'payment.applied': 'payment:applied',
  'payment.failed': 'payment:failed',
  'payment.refunded': 'payment:refunded',
};

/** The webhook event that a message is delivered as, or null: what changes neither status, amounts, deadline nor metadata is not for merchants. */
export const webhookEventOf = (message: DomainMessage): WebhookEventType | null => WEBHOOK_EVENTS[message.type] ?? null;
