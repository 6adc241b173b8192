import { z } from 'zod';
import { ENVELOPE } from '../envelope.ts';
import { Timestamp } from '../ids.ts';
import { Amount, Minor } from '../money.ts';
import { OfferedPayment } from '../payment-offer.ts';
import { OrderDeletionRecorded } from '../order-deletion.ts';
import { AssignedInstruction } from '../recorded-values.ts';
import { Item, ItemDto, Modifier } from '../resources/item.ts';
import { Metadata, MetadataDto } from '../resources/metadata.ts';
import { Capabilities } from '../resources/capabilities.ts';
import { CryptoDepositInstruction, GatewayPayInstruction, Order, Rate } from '../resources/order.ts';
import { Payment } from '../resources/payment.ts';
import { OrderWebhookPayload, PaymentWebhookPayload, WebhookEventType } from '../resources/webhook.ts';
import { type DomainMessage, ORDER_MESSAGES, PAYMENT_MESSAGES, TOPICS, schemaIdOf } from '../topics.ts';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

const ORDER_TYPES = ORDER_MESSAGES.map(({ message }) => message);
const PAYMENT_TYPES = PAYMENT_MESSAGES.map(({ message }) => message);

/** The message types of both topics, in the order of the published documents. */
export const MESSAGE_TYPES = [...ORDER_TYPES, ...PAYMENT_TYPES];

/** The message types of a topic. */
export const messageTypesOn = (topic: string): DomainMessage['type'][] =>
  topic === TOPICS.orders.name ? ORDER_TYPES : PAYMENT_TYPES;

/** One sentence that says when the message is published. */
export const summaryOf = (type: DomainMessage['type']): string => definitionOf(type).summary;

const definitionOf = (type: DomainMessage['type']) =>
  [...ORDER_MESSAGES, ...PAYMENT_MESSAGES].find(({ message }) => message === type)!;

/** The `data` of a new message, as a strict zod schema. */
export const messageData = (type: DomainMessage['type']) =>
  z.object({
    change: definitionOf(type).written,
    resource: resourceOf(type),
    ...(!isAboutOrder(type) && { order: PaymentWebhookPayload.shape.order }),
  });

const isAboutOrder = (type: DomainMessage['type']): boolean => type.startsWith('order.');

const resourceOf = (type: DomainMessage['type']): z.ZodType => {
  if (type === OrderDeletionRecorded.message) return z.null();
  return isAboutOrder(type) ? Order : Payment;
};

/** JSON Schema of a message type's `data`. The `dataschema` attribute of the message names it. */
export const dataSchema = (type: DomainMessage['type']): JsonSchema =>
  toJsonSchema(messageData(type), { $id: schemaIdOf(type), title: type, description: summaryOf(type) });

/** JSON Schema of the envelope: all attributes except `data`. */
export const envelopeSchema = (): JsonSchema =>
  toJsonSchema(z.object({ ...ENVELOPE, type: z.enum(MESSAGE_TYPES) }), {
    $id: schemaIdOf('envelope'),
    title: 'envelope',
    description: 'The attributes of a message: CloudEvents 1.0, structured JSON.',
  });

/** Both variants of the body as one object. */
const AnyWebhookPayload = z.object({
  event: WebhookEventType,
  data: z.union([Order, Payment]),
  object_type: z.enum(['order', 'payment']),
  order: PaymentWebhookPayload.shape.order,
  refund: PaymentWebhookPayload.shape.refund,
  timestamp: OrderWebhookPayload.shape.timestamp,
});

/** JSON Schema of the body of a webhook delivery. */
export const webhookSchema = (): JsonSchema =>
  toJsonSchema(AnyWebhookPayload, {
    $id: schemaIdOf('webhook'),
    title: 'webhook',
    description: 'The body of a webhook delivery. `data` is the resource right after the event.',
  });

const DIALECT = z.toJSONSchema(z.string()).$schema!;

// Values that appear in many documents have the same name and description in each.
const PARTS: Record<string, [z.ZodType, description?: string]> = {
  Amount: [
    Amount,
    'An exact decimal amount. It has the fixed number of decimals of its currency; a `unit_price` is shown as it was sent.',
  ],
  AssignedInstruction: [AssignedInstruction, 'Where to pay, as the rail assigned it.'],
  Capabilities: [Capabilities],
  CryptoDepositInstruction: [CryptoDepositInstruction],
  GatewayPayInstruction: [GatewayPayInstruction],
  Item: [Item],
  JsonValue: [Metadata.def.valueType],
  Metadata: [Metadata, "The merchant's own data, at most 16 KiB as JSON."],
  Minor: [Minor, "A whole number of the smallest units of the order's currency: satoshi, wei, millionths of USDT."],
  Modifier: [Modifier],
  OfferedPayment: [OfferedPayment, 'A payment as it was offered to its order.'],
  Order: [Order, 'The order right after the event, as the API shows it.'],
  Payment: [Payment, 'The payment right after the event, as the API shows it.'],
  Rate: [Rate, 'The value of one unit of the item currency in the currency of the order.'],
  Timestamp: [Timestamp, 'ISO 8601, UTC, milliseconds.'],
};
for (const [id, [schema, description]] of Object.entries(PARTS)) {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id, ...(description && { description }) });
}

// New events keep the limits of requests. Consumers see the same values without them, because limits may change.
const PUBLISHED_AS = new Map<z.core.$ZodType, string>([
  [ItemDto, 'Item'],
  [MetadataDto, 'Metadata'],
]);

/** Objects are open in published schemas, because fields may be added. Patterns and bounds that repeat a format or a
 *  type are left out. */
const toJsonSchema = (schema: z.ZodType, heading: JsonSchema): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const name = PUBLISHED_AS.get(zodSchema);
      if (name) {
        for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword];
        jsonSchema.$ref = `#/$defs/${name}`;
      }
      delete jsonSchema.example;
      if (jsonSchema.type === 'object' && isOpenOrStrict(jsonSchema.additionalProperties))
        delete jsonSchema.additionalProperties;
      if (jsonSchema.format === 'date-time' || jsonSchema.$ref) delete jsonSchema.pattern;
      if (jsonSchema.type === 'integer') {
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      }
    },
  });
  return { $schema: DIALECT, ...heading, ...rest };
};

/** `additionalProperties` of a strict object (`false`) and of an open one (`{}`). */
const isOpenOrStrict = (additional: JsonSchema['additionalProperties']): boolean =>
  additional === false || (typeof additional === 'object' && Object.keys(additional).length === 0);
