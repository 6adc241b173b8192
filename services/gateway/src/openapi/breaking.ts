/** As much of JSON Schema as zod writes. */
interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  pattern?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  [bound: string]: unknown;
}

interface Content {
  content?: Record<string, { schema: Schema }>;
}

interface Operation {
  parameters?: { name?: string; $ref?: string; required?: boolean; schema?: Schema }[];
  requestBody?: Content & { required?: boolean };
  responses: Record<string, Content>;
}

export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const UPPER_BOUNDS = ['maximum', 'maxLength', 'maxItems'];
const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];

/** What a client written for `before` could not cope with in `after`: something is gone, asked for in addition, or refused that was
 *  taken. New operations, new optional fields and new fields of answers are none of that. */
export const breakingDifferences = (before: OpenApi, after: OpenApi): string[] => {
  const compare = (old: Schema, now: Schema, sent: boolean, where: string): string[] => {
    const [a, b] = [resolved(before, old), resolved(after, now)];
    if (a.type !== b.type) return [`${where} is of another type`];
    return [
      ...(sent ? narrower(a, b, where) : []),
      ...fieldFaults(a, b, sent, where),
      ...Object.entries(a.properties ?? {}).flatMap(([name, field]) => {
        const other = b.properties?.[name];
        return other ? compare(field, other, sent, `${where}.${name}`) : [`${where}.${name} is gone`];
      }),
      ...variantsOf(a).flatMap((variant, index) => {
        const other = variantsOf(b)[index];
        return other ? compare(variant, other, sent, `${where}<${index}>`) : [`${where} has a form less`];
      }),
      ...(a.items && b.items ? compare(a.items, b.items, sent, `${where}[]`) : []),
      ...(isSchema(a.additionalProperties) && isSchema(b.additionalProperties)
        ? compare(a.additionalProperties, b.additionalProperties, sent, `${where}.*`)
        : []),
    ];
  };

  const contentFaults = (old: Content | undefined, now: Content | undefined, sent: boolean, where: string): string[] =>
    Object.entries(old?.content ?? {}).flatMap(([type, { schema }]) => {
      const other = now?.content?.[type];
      return other ? compare(schema, other.schema, sent, where) : [`${where} is gone`];
    });

  const parameterFaults = (old: Operation, now: Operation, where: string): string[] => {
    const keyed = ({ parameters = [] }: Operation) => new Map(parameters.map((one) => [one.name ?? one.$ref, one]));
    const [a, b] = [keyed(old), keyed(now)];
    return [
      ...[...a].flatMap(([name, { schema }]) => {
        const other = b.get(name);
        if (!other) return [`${where} parameter ${name} is gone`];
        return schema && other.schema ? compare(schema, other.schema, true, `${where} parameter ${name}`) : [];
      }),
      ...[...b].flatMap(([name, { required }]) =>
        required && !a.get(name)?.required ? [`${where} parameter ${name} is required now`] : [],
      ),
    ];
  };

  const operationFaults = (old: Operation, now: Operation, where: string): string[] => [
    ...parameterFaults(old, now, where),
    ...(now.requestBody?.required && !old.requestBody?.required ? [`${where} needs a body now`] : []),
    ...contentFaults(old.requestBody, now.requestBody, true, `${where} body`),
    ...Object.entries(old.responses).flatMap(([status, answer]) =>
      now.responses[status]
        ? contentFaults(answer, now.responses[status], false, `${where} ${status}`)
        : [`${where} ${status} is gone`],
    ),
  ];

  return Object.entries(before.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, old]) => {
      const now = after.paths[path]?.[method];
      const where = `${method.toUpperCase()} ${path}`;
      return now ? operationFaults(old, now, where) : [`${where} is gone`];
    }),
  );
};

/** A request must not have to say more, an answer must not say less. */
const fieldFaults = (a: Schema, b: Schema, sent: boolean, where: string): string[] => {
  const [had, has] = [a.required ?? [], b.required ?? []];
  return sent
    ? has.filter((name) => !had.includes(name)).map((name) => `${where}.${name} is required now`)
    : had.filter((name) => !has.includes(name)).map((name) => `${where}.${name} may be missing now`);
};

const narrower = (a: Schema, b: Schema, where: string): string[] => [
  ...(a.enum ?? [])
    .filter((value) => b.enum && !b.enum.includes(value))
    .map((value) => `${where} refuses ${value} now`),
  ...(b.enum && !a.enum ? [`${where} takes only some values now`] : []),
  ...(b.pattern !== undefined && a.pattern !== b.pattern ? [`${where} has another pattern`] : []),
  ...(b.additionalProperties === false && a.additionalProperties !== false ? [`${where} is closed now`] : []),
  ...UPPER_BOUNDS.filter((bound) => limit(b, bound, Infinity) < limit(a, bound, Infinity)).map(
    (bound) => `${where} has a smaller ${bound}`,
  ),
  ...LOWER_BOUNDS.filter((bound) => limit(b, bound, -Infinity) > limit(a, bound, -Infinity)).map(
    (bound) => `${where} has a larger ${bound}`,
  ),
];

const limit = (schema: Schema, bound: string, none: number): number => (schema[bound] as number | undefined) ?? none;

const isSchema = (value: Schema | boolean | undefined): value is Schema => typeof value === 'object';

const variantsOf = (schema: Schema): Schema[] => schema.anyOf ?? schema.oneOf ?? [];

const resolved = ({ components }: OpenApi, schema: Schema): Schema =>
  schema.$ref ? (components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
