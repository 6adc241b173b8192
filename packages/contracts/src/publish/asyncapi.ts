import { DEFAULT_PARTITIONS, deadLetterTopicOf, type DomainMessage, TOPICS } from '../topics.ts';
import { exampleMessage } from './examples.ts';
import { documentOf, VERSION } from './names.ts';
import { DESCRIPTIONS, MESSAGE_TYPES } from './schemas.ts';

const DIALECT = 'application/schema+json;version=2020-12';
const KAFKA_BINDING = '0.5.0';

/** The AsyncAPI 3.0 document of the topics. Its schemas are the documents beside it. */
export const asyncApi = () => ({
  asyncapi: '3.0.0',
  info: {
    title: 'Domain events of the crypto payment gateway',
    version: '1.0.0',
    description:
      'What happened to orders and payments, for teams inside the company. Delivery is at least once, and in order for each order: ' +
      'the key of every message is the id of the order concerned, and the same event always has the same `id`, so a reader drops what it has ' +
      'seen. Readers ignore types, properties and enum values they do not know: these are added without a new version.',
  },
  defaultContentType: 'application/json',
  channels: Object.fromEntries(Object.values(TOPICS).flatMap(({ name }) => [topic(name), deadLetters(name)])),
  operations: {
    publishOrderEvents: publishing(TOPICS.orders.name, 'What happened to orders, in the order of each stream.'),
    publishPaymentEvents: publishing(TOPICS.payments.name, 'What happened to payments, in the order of each stream.'),
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
    messages: Object.fromEntries(
      MESSAGE_TYPES.filter((type) => topicOf(type) === name).map((type) => [
        type,
        { $ref: `#/components/messages/${type}` },
      ]),
    ),
    bindings: { kafka: { topic: name, partitions: DEFAULT_PARTITIONS, bindingVersion: KAFKA_BINDING } },
  },
];

const deadLetters = (name: string): [string, object] => [
  deadLetterTopicOf(name),
  {
    address: deadLetterTopicOf(name),
    title: `What a consumer of ${name} could not process`,
    messages: { parked: { $ref: '#/components/messages/parked' } },
    bindings: { kafka: { topic: deadLetterTopicOf(name), partitions: 1, bindingVersion: KAFKA_BINDING } },
  },
];

const topicOf = (type: DomainMessage['type']): string =>
  type.startsWith('order.') ? TOPICS.orders.name : TOPICS.payments.name;

const publishing = (name: string, summary: string) => ({
  action: 'send',
  channel: { $ref: `#/channels/${name}` },
  summary,
});

const message = (type: DomainMessage['type']) => ({
  name: type,
  title: type,
  summary: DESCRIPTIONS[type],
  contentType: 'application/cloudevents+json',
  correlationId: { location: '$message.payload#/correlationid' },
  bindings: {
    kafka: { key: { type: 'string', description: 'The id of the order concerned.' }, bindingVersion: KAFKA_BINDING },
  },
  payload: {
    schemaFormat: DIALECT,
    schema: {
      allOf: [
        { $ref: `./envelope.${VERSION}.json` },
        {
          type: 'object',
          properties: { type: { const: type }, data: { $ref: `./${documentOf(type)}` } },
          required: ['data'],
        },
      ],
    },
  },
  examples: [{ name: type, payload: exampleMessage(type) }],
});

const PARKED = {
  name: 'parked',
  title: 'A message set aside',
  summary: 'The key, value and headers of the message as it was, with where it came from and why it was set aside.',
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
