import openapiTS, { astToString } from 'openapi-typescript';
import { HEADING, nameOf, orUndefined } from './api.mjs';

/**
 * @typedef {{ $ref?: string, $defs?: Record<string, Schema>, $id?: string, $schema?: string, title?: string,
 *   description?: string, type?: string, const?: unknown, enum?: string[], pattern?: string, format?: string,
 *   oneOf?: Schema[], anyOf?: Schema[], allOf?: Schema[], properties?: Record<string, Schema>, required?: string[],
 *   items?: Schema, additionalProperties?: Schema, propertyNames?: Schema }} Schema
 */

/**
 * Types and zod schemas of the Kafka messages, from the published JSON Schemas by name, such as `order.paid`. The types
 * have the values of this version; the schemas accept values of open lists that a newer gateway may send.
 * @type {(documents: Record<string, Schema>) => Promise<string>}
 */
export const eventModule = async (documents) => {
  const types = Object.keys(documents).filter((name) => /^(order|payment)\./.test(name));
  const { envelope, parts, messages } = schemasOf(documents, types);
  const named = { ...parts, Envelope: envelope, ...messages };
  const ast = await openapiTS(
    /** @type {never} */ ({
      openapi: '3.1.0',
      info: { title: '', version: '' },
      paths: {},
      components: { schemas: named },
    }),
    { rootTypes: true, rootTypesNoSchemaPrefix: true, silent: true },
  );
  return [
    HEADING,
    "import { z } from 'zod';\n",
    "import { messageSchema, orAnotherVariant, typed } from '../events/schema.ts';\n\n",
    astToString(orUndefined(ast)).replace(/^export (type (paths|webhooks|\$defs|operations) )/gm, '$1'),
    '\n',
    ...inOrder(parts).map(([name, schema]) => constant(name, zodOf(schema), schema)),
    `const attributes = ${zodOf(envelope)};\n`,
    constant('Envelope', 'attributes', envelope),
    ...Object.entries(messages).map(([name, { description, allOf = [] }]) =>
      constant(name, `attributes.extend(${zodOf(/** @type {Schema} */ (allOf[1]))}.shape)`, {
        description: description ?? '',
      }),
    ),
    ...union('Order', types),
    ...union('Payment', types),
  ].join('');
};

/** The envelope of every message, the parts that messages share, and the messages of these types.
 *  @type {(documents: Record<string, Schema>, types: string[]) => { envelope: Schema, parts: Record<string, Schema>, messages: Record<string, Schema> }} */
const schemasOf = (documents, types) => {
  /** @type {Record<string, Schema>} */
  const parts = {};
  /** @type {Record<string, Schema>} */
  const messages = {};
  for (const type of types) {
    const { $defs, description = '', ...document } = schemaOf(documents, type);
    const data = without(document, '$id', '$schema', 'title');
    // `__schema0` is a leftover of the generator of the documents, which nothing refers to.
    Object.assign(parts, without($defs ?? {}, '__schema0'));
    messages[messageName(type)] = {
      description,
      allOf: [
        { $ref: '#/$defs/Envelope' },
        { type: 'object', properties: { type: { type: 'string', const: type }, data }, required: ['type', 'data'] },
      ],
    };
  }
  const { $defs, ...document } = schemaOf(documents, 'envelope');
  const envelope = without(document, '$id', '$schema', 'title');
  const attributes = without(envelope.properties ?? {}, 'type');
  const required = envelope.required?.filter((name) => name !== 'type') ?? [];
  return JSON.parse(
    JSON.stringify({
      envelope: { ...envelope, properties: attributes, required },
      // Its definition refers to itself, which TypeScript does not resolve.
      parts: { ...$defs, ...parts, JsonValue: { description: 'Any JSON value.' } },
      messages,
    }).replaceAll('#/$defs/', '#/components/schemas/'),
  );
};

/**
 * @template {object} T
 * @param {T} object
 * @param {string[]} names
 * @returns {T}
 */
const without = (object, ...names) =>
  /** @type {T} */ (Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name))));

/** @type {(documents: Record<string, Schema>, name: string) => Schema} */
const schemaOf = (documents, name) => {
  const found = documents[name];
  if (!found) throw new Error(`docs/events has no schema of ${name}`);
  return found;
};

/** `OrderPaymentReceived` for `order.payment_received`. @type {(type: string) => string} */
const messageName = (type) => type.replace(/(?:^|[._])(\w)/g, (_, letter) => String(letter).toUpperCase());

/** Each schema after those that it uses. @type {(schemas: Record<string, Schema>) => [string, Schema][]} */
const inOrder = (schemas) => {
  /** @type {Map<string, Schema>} */
  const done = new Map();
  const add = (/** @type {string} */ name) => {
    const schema = schemas[name];
    if (!schema || done.has(name) || name === 'JsonValue') return;
    for (const [, used = ''] of JSON.stringify(schema).matchAll(/#\/components\/schemas\/(\w+)"/g)) add(used);
    done.set(name, schema);
  };
  for (const name of Object.keys(schemas)) add(name);
  return [...done];
};

/** @type {(name: string, code: string, schema: Schema) => string} */
const constant = (name, code, { description }) =>
  `${description ? `/** ${description} */\n` : ''}export const ${name} = typed<${name}>()(${code});\n`;

/** @type {(subject: 'Order' | 'Payment', types: string[]) => string[]} */
const union = (subject, types) => {
  const names = types.filter((type) => type.startsWith(`${subject.toLowerCase()}.`));
  return [
    `\n/** A message of the topic \`${subject.toLowerCase()}s.v1\`. */\n`,
    `export type ${subject}Message = ${names.map(messageName).join(' | ')};\n`,
    `/** Accepts messages of types that this version does not know. The TypeScript type does not show them. */\n`,
    `export const ${subject}Message = messageSchema<${subject}Message>(attributes, {\n`,
    ...names.map((type) => `  '${type}': ${messageName(type)},\n`),
    '});\n',
  ];
};

/** zod code for a schema. Lengths and bounds are left out: they may change. @type {(schema: Schema) => string} */
const zodOf = (schema) => {
  if (schema.$ref) {
    const name = nameOf(schema.$ref);
    return name === 'JsonValue' ? 'z.json()' : name;
  }
  if (schema.const !== undefined) return `z.literal(${JSON.stringify(schema.const)})`;
  if (schema.oneOf) return variants(schema.oneOf);
  if (schema.anyOf) return `z.union([${schema.anyOf.map(zodOf).join(', ')}])`;
  switch (schema.type) {
    case 'string':
      if (schema.format === 'date-time') return 'z.iso.datetime()';
      return schema.pattern ? `z.string().regex(new RegExp(${JSON.stringify(schema.pattern)}))` : 'z.string()';
    case 'integer':
      return 'z.int()';
    case 'number':
    case 'boolean':
    case 'null':
      return `z.${schema.type}()`;
    case 'array':
      return `z.array(${zodOf(schema.items ?? {})})`;
    case 'object':
      return schema.properties ? objectOf(schema) : `z.record(z.string(), ${zodOf(schema.additionalProperties ?? {})})`;
    default:
      return 'z.unknown()';
  }
};

/** @type {(schema: Schema) => string} */
const objectOf = ({ properties = {}, required = [] }) => {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${JSON.stringify(name)}: ${zodOf(schema)}${required.includes(name) ? '' : '.optional()'}`,
  );
  return `z.object({ ${fields.join(', ')} })`;
};

/** Variants that a constant field tells apart, and any other variant. @type {(schemas: Schema[]) => string} */
const variants = (schemas) => `orAnotherVariant([${schemas.map(zodOf).join(', ')}])`;
