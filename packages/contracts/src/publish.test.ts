import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { publishedDocuments, publishedSchemas } from './publish.ts';
import { breakingDifferences } from './publish/breaking.ts';
import { committedDocuments, committedSchemas } from './publish/committed.ts';
import { exampleMessage } from './publish/examples.ts';
import { dataSchemaOf, VERSION } from './publish/names.ts';
import { MESSAGE_TYPES, messageOf } from './publish/schemas.ts';
import { DEFAULT_PARTITIONS, TOPICS } from './topics.ts';

const TO_WRITE_THEM =
  'docs/events is not what the contracts say: run `pnpm --filter @cpg/contracts schemas` and commit it';

// Paths in the documents are relative; a validator needs to know where from.
const HOME = 'https://gateway.test';

const validator = () => {
  const ajv = new Ajv2020({ allErrors: true });
  formats.default(ajv);
  for (const schema of Object.values(publishedSchemas()) as { $id: string }[]) ajv.addSchema(schema, HOME + schema.$id);
  return ajv;
};

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

describe('the committed documents', () => {
  test('break nobody who reads them', () => {
    expect(breakingDifferences(committedSchemas(VERSION), copy(publishedSchemas()))).toEqual([]);
  });

  test('are what the contracts say', () => {
    const [committed, published] = [committedDocuments(), copy(publishedDocuments())];
    const stale = Object.keys({ ...committed, ...published }).filter(
      (name) => JSON.stringify(committed[name]) !== JSON.stringify(published[name]) && !isOfEarlierVersion(name),
    );
    if (stale.length > 0) throw new Error(`${TO_WRITE_THEM}\n  ${stale.join('\n  ')}`);
  });

  const isOfEarlierVersion = (name: string) => /\.v\d+\.json$/.test(name) && !name.endsWith(`.${VERSION}.json`);
});

describe('the schemas', () => {
  const ajv = validator();
  const messageTypes = [...TOPICS.orders.message.options, ...TOPICS.payments.message.options].map(
    ({ shape }) => shape.type.value,
  );

  test('are there for every type on the topics', () => {
    expect([...MESSAGE_TYPES].sort()).toEqual([...messageTypes].sort());
  });

  test.each(MESSAGE_TYPES)('%s: the example is a message, for zod and for JSON Schema', (type) => {
    const example = exampleMessage(type);
    expect(messageOf(type).parse(example)).toEqual(example);
    expect(errorsOf(ajv, `${HOME}/schemas/envelope.${VERSION}.json`, example)).toEqual([]);
    expect(errorsOf(ajv, HOME + example.dataschema, example.data)).toEqual([]);
  });

  test.each(MESSAGE_TYPES)('%s: without a required part it is no message, for both', (type) => {
    const { at: _, ...change } = exampleMessage(type).data.change;
    const data = { ...exampleMessage(type).data, change };
    expect(messageOf(type).safeParse({ ...exampleMessage(type), data }).success).toBe(false);
    expect(errorsOf(ajv, HOME + dataSchemaOf(type), data)).not.toEqual([]);
  });

  test('leave room for what is added later', () => {
    const { data } = exampleMessage('order.created');
    const grown = {
      ...data,
      resource: { ...data.resource, tip: '1.00', items: [{ ...data.resource.items[0], sku: 'A1' }] },
    };
    expect(errorsOf(ajv, `${HOME}${dataSchemaOf('order.created')}`, grown)).toEqual([]);
  });

  test('describe the bodies of webhooks', () => {
    const body = {
      event: 'order:paid',
      data: exampleMessage('order.paid').data.resource,
      object_type: 'order',
      timestamp: 1,
    };
    expect(errorsOf(ajv, `${HOME}/schemas/webhook.${VERSION}.json`, body)).toEqual([]);
    expect(errorsOf(ajv, `${HOME}/schemas/webhook.${VERSION}.json`, { ...body, event: 'order:eaten' })).not.toEqual([]);
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

  test('has the topics, each with its dead letters', () => {
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

  test('has every type on its own topic alone', () => {
    for (const { name, message } of Object.values(TOPICS)) {
      expect(Object.keys(document.channels[name]!.messages)).toEqual(
        message.options.map(({ shape }) => shape.type.value),
      );
    }
  });

  test('points only to what is there', () => {
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
