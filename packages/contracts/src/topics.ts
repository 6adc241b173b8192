import { z } from 'zod';
import { ENVELOPE, type Envelope } from './envelope.ts';
import { type EventDefinition, openObject, withUnknownTypes } from './event-definition.ts';
import { OrderDeletionRecorded } from './order-deletion.ts';
import { ORDER_EVENTS } from './order-events.ts';
import type { OrderReference } from './resources/order-reference.ts';
import { PAYMENT_EVENTS } from './payment-events.ts';
import type { Order } from './resources/order.ts';
import type { Payment } from './resources/payment.ts';
import type { WebhookEventType } from './resources/webhook.ts';

/** The Kafka message of an event. `change` is the event's data; `resource` is the order or payment right after it. */
type MessageOf<D, R, More = unknown> =
  D extends EventDefinition<string, infer M extends string, infer S>
    ? Envelope & { type: M; data: { change: z.output<z.ZodObject<S>>; resource: R } & More }
    : never;

/** How the merchant knows the order of a payment, as webhooks show it. Absent if the payment belongs to no order. */
interface KnownOrder {
  order?: OrderReference | undefined;
}

/** A message on topic `orders.v1`. `order.deleted` has no resource. */
export type OrderMessage =
  MessageOf<(typeof ORDER_EVENTS)[number], Order> | MessageOf<typeof OrderDeletionRecorded, null>;

/** A message on topic `payments.v1`. */
export type PaymentMessage = MessageOf<(typeof PAYMENT_EVENTS)[number], Payment, KnownOrder>;

export type DomainMessage = OrderMessage | PaymentMessage;

/** A message for a consumer that reads no change but that of a refund. `order` is in messages about payments. */
export type ResourceMessage = Pick<DomainMessage, keyof Envelope | 'type'> & {
  data: Pick<DomainMessage['data'], 'resource'> & { change?: unknown } & KnownOrder;
};

type PublishedEvent = EventDefinition<string, DomainMessage['type']>;

const published = (definitions: readonly EventDefinition[]): PublishedEvent[] =>
  definitions.filter((definition): definition is PublishedEvent => definition.message !== null);

export const ORDER_MESSAGES: readonly PublishedEvent[] = published([...ORDER_EVENTS, OrderDeletionRecorded]);
export const PAYMENT_MESSAGES: readonly PublishedEvent[] = published(PAYMENT_EVENTS);
const ALL_MESSAGES = [...ORDER_MESSAGES, ...PAYMENT_MESSAGES];

/** Resources in messages are carried unchecked: the service that published them rendered them, maybe with newer
 *  fields. */
const Resource = z.custom<unknown>((value) => typeof value === 'object');

/** Schema for consumers. It accepts a message of an unknown type, which a newer version published; handlers ignore such
 *  messages. */
const messageSchema = (definitions: readonly PublishedEvent[]): z.ZodType =>
  withUnknownTypes(
    definitions.map(({ message: type, recorded: change }) => ({
      type,
      schema: openObject({ ...ENVELOPE, type: z.literal(type), data: openObject({ change, resource: Resource }) }),
    })),
    z.object(ENVELOPE),
  );

export const OrderMessage = messageSchema(ORDER_MESSAGES) as z.ZodType<OrderMessage>;
export const PaymentMessage = messageSchema(PAYMENT_MESSAGES) as z.ZodType<PaymentMessage>;

const withResource = openObject({ ...ENVELOPE, data: openObject({ resource: Resource }) });
/** Messages of both topics, at less cost: the change is not checked. */
export const ResourceMessage = withUnknownTypes(
  ALL_MESSAGES.map(({ message: type }) => ({ type, schema: withResource })),
  z.object(ENVELOPE),
) as z.ZodType<ResourceMessage>;

/** The Kafka topics and the schemas of their messages. */
export const TOPICS = {
  orders: { name: 'orders.v1', message: OrderMessage },
  payments: { name: 'payments.v1', message: PaymentMessage },
} as const;

/** Version of the published schemas. A breaking change raises it; the documents of earlier versions stay unchanged. */
export const SCHEMA_VERSION = 'v1';

/** File name of a published schema: of a message type's data, or of `envelope` and `webhook`. */
export const schemaFileOf = (name: string): string => `${name}.${SCHEMA_VERSION}.json`;

/** The `$id` of a published schema, and the `dataschema` of messages whose data it describes. CloudEvents requires an
 *  absolute URI. It names the schema in every deployment, so it is not an address. */
export const schemaIdOf = (name: string): string => `urn:cpg:schemas:${name}.${SCHEMA_VERSION}`;

export const DEFAULT_PARTITIONS = 12;

/** The key of a message. An order and its payments share one key, so a consumer reads their messages in order. */
export const partitionKeyOf = (message: DomainMessage): string => message.orderid;

/** The topic for messages that a consumer cannot process. */
export const deadLetterTopicOf = (topic: string): string => `${topic}.dlq`;

const MESSAGE_TYPES = new Map(ALL_MESSAGES.map(({ type, message }) => [type, message]));

/** The CloudEvents type of an event: `order.payments_applied` for `OrderPaymentsApplied`. Null for an event that is not
 *  published, and for an event type that this version does not know. */
export const messageTypeOf = (eventType: string): DomainMessage['type'] | null => MESSAGE_TYPES.get(eventType) ?? null;

const WEBHOOKS = new Map(ALL_MESSAGES.map(({ message, webhooks }) => [message, webhooks]));

/** The webhook events of a message: none when merchants do not receive it, or this version does not know its type.
 *  Each event of an order has one, so that a merchant who keeps the last one has what a read shows. */
export const webhookEventsOf = ({ type }: Pick<DomainMessage, 'type'>): readonly WebhookEventType[] =>
  WEBHOOKS.get(type) ?? [];

/** A recorded event, as far as its message shows it. */
interface EventToPublish {
  readonly id: string;
  readonly revision: number;
  readonly event: { readonly type: string; readonly data: { readonly at: string } };
  readonly metadata: {
    readonly actor: string;
    readonly $correlationId: string;
    readonly $causationId: string;
    readonly hash: string;
  };
}

interface MessageSubject {
  readonly source: '/orders' | '/payments';
  /** The id of the order or payment. */
  readonly subject: string;
  readonly orderId: string;
  readonly merchantId: string;
}

/** The CloudEvents message of a recorded event. `resource` is the order or payment right after it, as the API shows it;
 *  null once it is deleted. The same event always gives the same message. Null for an event that is not published, and
 *  for an event of an unknown type, which a newer version recorded. */
export const messageFor = (
  { id, event, metadata, revision }: EventToPublish,
  { source, subject, orderId, merchantId }: MessageSubject,
  resource: unknown,
  more: KnownOrder = {},
): (Envelope & { readonly type: DomainMessage['type']; readonly data: unknown }) | null => {
  const type = messageTypeOf(event.type);
  if (type === null) return null;
  return {
    type,
    specversion: '1.0',
    id,
    source,
    subject,
    time: event.data.at,
    datacontenttype: 'application/json',
    dataschema: schemaIdOf(type),
    sequence: String(revision),
    actor: metadata.actor,
    correlationid: metadata.$correlationId,
    causationid: metadata.$causationId,
    merchantid: merchantId,
    orderid: orderId,
    cpghash: metadata.hash,
    data: { change: event.data, resource, ...more },
  };
};
