import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { committedDocuments, committedSchemas, publishedDocuments, publishedSchemas } from './documents.ts';
import { breakingDifferences } from './breaking.ts';
import { exampleMessage } from '../examples.ts';
import { schemaIdOf, SCHEMA_VERSION, DEFAULT_PARTITIONS, OrderMessage, PaymentMessage, TOPICS } from '../topics.ts';
import { MESSAGE_TYPES, messageData, messageTypesOn } from './schemas.ts';

const STALE =
  'docs/events does not match the contracts: run `pnpm --filter @cpg/contracts schemas` and commit the result';

const validator = () => {
  const ajv = new Ajv2020({ allErrors: true });
  formats.default(ajv);
  for (const schema of Object.values(publishedSchemas()) as object[]) ajv.addSchema(schema);
  return ajv;
};

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('the committed documents', () => {
  test('have no breaking change', () => {
    expect(breakingDifferences(committedSchemas(SCHEMA_VERSION), copy(publishedSchemas()))).toEqual([]);
  });

  test('match the contracts', () => {
    const [committed, published] = [committedDocuments(), copy(publishedDocuments())];
    const stale = Object.keys({ ...committed, ...published }).filter(
      (name) => JSON.stringify(committed[name]) !== JSON.stringify(published[name]) && !isOfEarlierVersion(name),
    );
    if (stale.length > 0) throw new Error(`${STALE}\n  ${stale.join('\n  ')}`);
  });

  const isOfEarlierVersion = (name: string) => /\.v\d+\.json$/.test(name) && !name.endsWith(`.${SCHEMA_VERSION}.json`);
});

describe('the schemas', () => {
  const ajv = validator();
  const readerOf = (type: string) => (type.startsWith('order.') ? OrderMessage : PaymentMessage);

  test.each(MESSAGE_TYPES)('%s: zod and JSON Schema accept the example', (type) => {
    const example = exampleMessage(type);
    expect(readerOf(type).parse(example)).toEqual(example);
    expect(messageData(type).parse(example.data)).toEqual(example.data);
    expect(errorsOf(ajv, schemaIdOf('envelope'), example)).toEqual([]);
    expect(errorsOf(ajv, example.dataschema, example.data)).toEqual([]);
  });

  test.each(MESSAGE_TYPES)('%s: zod and JSON Schema refuse a message without `at`', (type) => {
    const { at: _, ...change } = exampleMessage(type).data.change;
    const data = { ...exampleMessage(type).data, change };
    expect(readerOf(type).safeParse({ ...exampleMessage(type), data }).success).toBe(false);
    expect(messageData(type).safeParse(data).success).toBe(false);
    expect(errorsOf(ajv, schemaIdOf(type), data)).not.toEqual([]);
  });

  test('accept fields that are added later', () => {
    const { data } = exampleMessage('order.created');
    const grown = {
      ...data,
      resource: { ...data.resource, tip: '1.00', items: [{ ...data.resource.items[0], sku: 'A1' }] },
    };
    expect(errorsOf(ajv, schemaIdOf('order.created'), grown)).toEqual([]);
  });

  test('describe webhook bodies', () => {
    const body = {
      event: 'order:paid',
      data: exampleMessage('order.paid').data.resource,
      object_type: 'order',
      timestamp: 1,
    };
    expect(errorsOf(ajv, schemaIdOf('webhook'), body)).toEqual([]);
    expect(errorsOf(ajv, schemaIdOf('webhook'), { ...body, event: 'order:eaten' })).not.toEqual([]);
  });
});

describe('the AsyncAPI document', () => {
  const document = copy(publishedDocuments()['asyncapi.json']) as {
    asyncapi: string;
    channels: Record<
      string,
      { address: string; messages: Record<string, unknown>; bindings: { kafka: { partitions: number } } }
    >;
    components: { messages: Record<string, unknown> };
  };

  test('has each topic with its dead-letter topic', () => {
    expect(document.asyncapi).toBe('3.0.0');
    const partitions = Object.values(document.channels).map(({ address, bindings }) => [
      address,
      bindings.kafka.partitions,
    ]);
    expect(Object.fromEntries(partitions)).toEqual({
      'orders.v1': DEFAULT_PARTITIONS,
      'orders.v1.dlq': 1,
      'payments.v1': DEFAULT_PARTITIONS,
      'payments.v1.dlq': 1,
    });
  });

  test('lists every message type on one topic', () => {
    for (const { name } of Object.values(TOPICS)) {
      expect(Object.keys(document.channels[name]!.messages)).toEqual(messageTypesOn(name));
    }
  });

  test('has no broken references', () => {
    const documents = publishedDocuments();
    const broken = referencesIn(document).filter((reference) =>
      reference.startsWith('#')
        ? resolve(document, reference) === undefined
        : documents[reference.replace('./', '')] === undefined,
    );
    expect(broken).toEqual([]);
  });
});

const errorsOf = (ajv: Ajv2020, schema: string, value: unknown) => {
  ajv.validate(schema, copy(value));
  return ajv.errors ?? [];
};

const referencesIn = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => (key === '$ref' ? [part as string] : referencesIn(part)));
};

const resolve = (document: unknown, reference: string): unknown =>
  reference
    .split('/')
    .slice(1)
    .reduce((part, key) => (part as Record<string, unknown> | undefined)?.[key], document);
