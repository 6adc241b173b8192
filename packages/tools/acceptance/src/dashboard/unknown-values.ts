import { readFileSync } from 'node:fs';

interface Schema {
  readonly $ref?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

interface Operation {
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly 'application/json'?: { readonly schema: Schema } } }>
  >;
}

const { paths, components } = JSON.parse(
  readFileSync(new URL('../../../../../services/gateway/openapi.json', import.meta.url), 'utf8'),
) as {
  readonly paths: Readonly<Record<string, { readonly get?: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
};

const open: Schema = { enum: [] };
/** The answers about sessions are not part of the documented API. */
const SESSIONS: Readonly<Record<string, Schema>> = {
  '/v1/sessions/current': {
    properties: { user: { properties: { role: open } }, environment: open, scopes: { items: open } },
  },
  '/v1/sessions': { properties: { items: { items: { properties: { method: open } } } } },
};

/** The value that a field named `field` gets: no version of the dashboard knows it. */
export const unknownValue = (field: string): string => `brand_new_${field}`;

/** An answer to GET of a path with an unknown value in each place where the document lists the values. */
export const withUnknownValues = (path: string, answer: unknown): unknown =>
  replaced(answer, schemasOf(path).flatMap(alternativesOf), 'value');

const schemasOf = (path: string): Schema[] => {
  const hidden = SESSIONS[path];
  if (hidden) return [hidden];
  const matching = Object.entries(paths).filter(([template]) => patternOf(template).test(path));
  // `/v1/merchants/me` before `/v1/merchants/{id}`.
  const [found] = matching.sort(([a], [b]) => a.split('{').length - b.split('{').length);
  const schema = found?.[1].get?.responses['200']?.content?.['application/json']?.schema;
  return schema ? [schema] : [];
};

const patternOf = (template: string): RegExp => new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

/** The schemas that a value may follow, without references and unions. */
const alternativesOf = (schema: Schema): Schema[] => [
  schema,
  ...(schema.$ref === undefined ? [] : alternativesOf(components.schemas[schema.$ref.split('/').at(-1)!]!)),
  ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((several) => several?.flatMap(alternativesOf) ?? []),
];

const replaced = (value: unknown, schemas: readonly Schema[], field: string): unknown => {
  if (typeof value === 'string') return schemas.some((schema) => schema.enum) ? unknownValue(field) : value;
  if (Array.isArray(value)) {
    const items = schemas.flatMap(({ items: of }) => (of ? alternativesOf(of) : []));
    // A list of known values gets another one: without any scope, a user sees nothing.
    if (items.some((schema) => schema.enum)) return [...(value as unknown[]), unknownValue(field)];
    return value.map((item) => replaced(item, items, field));
  }
  if (typeof value !== 'object' || value === null) return value;
  const hasOpenNames = schemas.some(({ propertyNames: names }) => names && alternativesOf(names).some((of) => of.enum));
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [
      hasOpenNames ? unknownValue(`${field}_name`) : name,
      replaced(of, propertiesOf(schemas, name), name),
    ]),
  );
};

const propertiesOf = (schemas: readonly Schema[], name: string): Schema[] =>
  schemas.flatMap(({ properties, additionalProperties: others }) => {
    const schema = properties?.[name] ?? (typeof others === 'object' ? others : undefined);
    return schema ? alternativesOf(schema) : [];
  });
