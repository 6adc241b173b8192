import {
  DEFAULT_PARTITIONS,
  deadLetterTopicOf,
  type DomainMessage,
  TOPICS,
  schemaFileOf,
  SCHEMA_VERSION,
} from '../topics.ts';
import { exampleMessage } from '../examples.ts';
import { MESSAGE_TYPES, messageTypesOn, summaryOf } from './schemas.ts';

const DIALECT = 'application/schema+json;version=2020-12';
const KAFKA_BINDING = '0.5.0';

/** The AsyncAPI 3.0 document of the topics. It refers to the published JSON Schemas. */
export const asyncApi = () => ({
  asyncapi: '3.0.0',
  info: {
    title: 'Domain events of the crypto payment gateway',
    version: '1.0.0',
    description:
      'Events of orders and payments, for internal teams. Delivery is at least once. Messages of one order arrive in order, because its id ' +
      'is the key of every message. The same event always has the same `id`, so a consumer can drop duplicates. ' +
      'Consumers must ignore message types, properties and enum values that they do not know: new ones are added without a new version.',
  },
  defaultContentType: 'application/json',
  channels: Object.fromEntries(Object.values(TOPICS).flatMap(({ name }) => [topic(name), deadLetters(name)])),
  operations: {
    publishOrderEvents: publishing(TOPICS.orders.name, 'Events of orders, in the sequence of each stream.'),
    publishPaymentEvents: publishing(TOPICS.payments.name, 'Events of payments, in the sequence of each stream.'),
  },
  components: {
    messages: { ...Object.fromEntries(MESSAGE_TYPES.map((type) => [type, message(type)])), parked: PARKED },
  },
});

const topic = (name: string): [string, object] => [
  name,
  {
    address: name,
    title: name,
    messages: Object.fromEntries(messageTypesOn(name).map((type) => [type, { $ref: `#/components/messages/${type}` }])),
    bindings: { kafka: { topic: name, partitions: DEFAULT_PARTITIONS, bindingVersion: KAFKA_BINDING } },
  },
];

const deadLetters = (name: string): [string, object] => [
  deadLetterTopicOf(name),
  {
    address: deadLetterTopicOf(name),
    title: `Messages of ${name} that a consumer could not process`,
    messages: { parked: { $ref: '#/components/messages/parked' } },
    bindings: { kafka: { topic: deadLetterTopicOf(name), partitions: 1, bindingVersion: KAFKA_BINDING } },
  },
];

const publishing = (name: string, summary: string) => ({
  action: 'send',
  channel: { $ref: `#/channels/${name}` },
  summary,
});

const message = (type: DomainMessage['type']) => ({
  name: type,
  title: type,
  summary: summaryOf(type),
  contentType: 'application/cloudevents+json',
  correlationId: { location: '$message.payload#/correlationid' },
  bindings: {
    kafka: { key: { type: 'string', description: 'The id of the order.' }, bindingVersion: KAFKA_BINDING },
  },
  payload: {
    schemaFormat: DIALECT,
    schema: {
      allOf: [
        { $ref: `./envelope.${SCHEMA_VERSION}.json` },
        {
          type: 'object',
          properties: { type: { const: type }, data: { $ref: `./${schemaFileOf(type)}` } },
          required: ['data'],
        },
      ],
    },
  },
  examples: [{ name: type, payload: exampleMessage(type) }],
});

const PARKED = {
  name: 'parked',
  title: 'A dead letter',
  summary: 'The original key, value and headers, with headers that name the origin of the message and the reason.',
  headers: {
    type: 'object',
    properties: {
      topic: { type: 'string' },
      partition: { type: 'string', pattern: '^[0-9]+$' },
      offset: { type: 'string', pattern: '^[0-9]+$' },
      reason: { type: 'string' },
    },
    required: ['topic', 'partition', 'offset', 'reason'],
  },
};
