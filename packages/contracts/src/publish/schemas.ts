import { z } from 'zod';
import { Timestamp } from '../ids.ts';
import { Amount, Minor } from '../money.ts';
import { AssignedInstruction, OfferedPayment } from '../order-events.ts';
import * as resources from '../resources.ts';
import type { DomainMessage } from '../topics.ts';
import { OrderMessage, PaymentMessage } from '../topics.ts';
import { dataSchemaOf, VERSION } from './names.ts';

export type JsonSchema = z.core.JSONSchema.JSONSchema;

/** When each type is published. */
export const DESCRIPTIONS: Record<DomainMessage['type'], string> = {
  'order.created': 'An order was created; its amount due and its rates are locked.',
  'order.instructed': 'An order that had been created without deposit instructions got them.',
  'order.payment_received': 'An order learned of a payment. It does not count until it is confirmed and applied.',
  'order.payment_confirmed': 'A payment of an order was confirmed by its rail.',
  'order.payments_applied': 'Payments were applied to their order; its status and remaining amount follow from them.',
  'order.payments_orphaned': 'Payments were set aside, due for refund.',
  'order.payment_failed': 'A payment came to nothing: dropped before it applied, or taken back after.',
  'order.payment_refunded': 'A payment of an order was refunded, in full or in part.',
  'order.paid': 'An order became paid; follows the message of what made it so.',
  'order.updated': 'The metadata or the deadline of an order was changed.',
  'order.renewed': 'Rates and amount due of an order were quoted anew, and its deadline moved on.',
  'order.time_advanced': "The clock of a sandbox's order was put forward; its deadline is that much nearer.",
  'order.expired': 'The deadline of an order passed.',
  'order.canceled': 'An order was canceled by its merchant.',
  'order.deleted': 'An order and its payments were deleted: forget what you hold of it. It has no resource any more.',
  'payment.received': 'A rail saw a payment.',
  'payment.confirmed': 'The rail of a payment confirmed it.',
  'payment.applied': 'A payment was applied to its order.',
  'payment.orphaned': 'A payment could not be applied and is due for refund.',
  'payment.failed': 'A payment came to nothing.',
  'payment.refunded': 'A payment was refunded, in full or in part.',
};

export const MESSAGE_TYPES = Object.keys(DESCRIPTIONS) as DomainMessage['type'][];

const messages = [...OrderMessage.options, ...PaymentMessage.options];

/** The message of a type, as a zod schema. */
export const messageOf = (type: DomainMessage['type']) => {
  const found = messages.find((message) => message.shape.type.value === type);
  if (!found) throw new RangeError(`no topic has messages of the type ${type}`);
  return found;
};

/** The schema of a type's `data`, which is what the `dataschema` attribute of CloudEvents names. */
export const dataSchema = (type: DomainMessage['type']): JsonSchema =>
  toJsonSchema(messageOf(type).shape.data, { $id: dataSchemaOf(type), title: type, description: DESCRIPTIONS[type] });

/** The schema of what stands around the data of every message. */
export const envelopeSchema = (): JsonSchema =>
  toJsonSchema(messages[0]!.omit({ data: true }).extend({ type: z.enum(MESSAGE_TYPES) }), {
    $id: `/schemas/envelope.${VERSION}.json`,
    title: 'envelope',
    description: 'The attributes of a message: CloudEvents 1.0, structured JSON.',
  });

/** The schema of the body of a webhook delivery. */
export const webhookSchema = (): JsonSchema =>
  toJsonSchema(resources.WebhookPayload, {
    $id: `/schemas/webhook.${VERSION}.json`,
    title: 'webhook',
    description: 'The body of a webhook delivery. `data` is the resource as it was right after the event.',
  });

const { $schema: DIALECT } = z.toJSONSchema(z.string());

// Parts that appear in many documents get a name, the same in each, and say what their values mean.
const PARTS: Record<string, [z.ZodType, description?: string]> = {
  Amount: [
    Amount,
    'An exact decimal amount, with the fixed number of decimals of its currency, except that a `unit_price` is as it was given.',
  ],
  AssignedInstruction: [AssignedInstruction, 'Where to pay, as it was assigned.'],
  Capabilities: [resources.Capabilities],
  CryptoDepositInstruction: [resources.CryptoDepositInstruction],
  GatewayPayInstruction: [resources.GatewayPayInstruction],
  Item: [resources.Item],
  JsonValue: [resources.Metadata.def.valueType],
  Metadata: [resources.Metadata, "The merchant's own data, at most 16 KiB as JSON."],
  Minor: [Minor, "A whole number of the smallest units of the order's currency: satoshi, wei, millionths of USDT."],
  Modifier: [resources.Modifier],
  OfferedPayment: [OfferedPayment, 'A payment as it was offered to its order.'],
  Order: [resources.Order, 'The order right after the event, as the API shows it.'],
  Payment: [resources.Payment, 'The payment right after the event, as the API shows it.'],
  Rate: [resources.Rate, 'What one unit of the item currency is worth in the currency of the order.'],
  Timestamp: [Timestamp, 'ISO 8601, UTC, milliseconds.'],
};
for (const [id, [schema, description]] of Object.entries(PARTS)) {
  z.globalRegistry.add(schema, { ...z.globalRegistry.get(schema), id, ...(description && { description }) });
}

/** As a reader needs it: objects are open, for what is added later; what JSON Schema says by its own words is not said again. */
const toJsonSchema = (schema: z.ZodType, heading: JsonSchema): JsonSchema => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      if (jsonSchema.type === 'integer') {
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      }
    },
  });
  return { $schema: DIALECT, ...heading, ...rest };
};
