/** The part of JSON Schema that zod generates. */
interface Schema {
  $ref?: string;
  type?: string | string[];
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

// NUL was always refused, also where the document did not say so.
const NO_NUL = '^[^\\x00]*$';

const UPPER_BOUNDS = ['maximum', 'maxLength', 'maxItems'];
const LOWER_BOUNDS = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];

/** Lists the changes from `before` to `after` that break existing clients: removed parts, newly required input, and
 *  input that is newly refused. New operations, new optional fields and new response fields do not break clients. */
export const breakingChanges = (before: OpenApi, after: OpenApi): string[] => {
  const compare = (old: Schema, now: Schema, isRequest: boolean, where: string): string[] => {
    const [a, b] = [resolved(before, old), resolved(after, now)];
    if (!isRequest && isNarrowed(a, b)) return narrowingChanges(a, b, where);
    if (String(a.type) !== String(b.type)) return [`${where} has another type`];
    return [
      ...(isRequest ? restrictions(a, b, where) : []),
      ...requiredChanges(a, b, isRequest, where),
      ...Object.entries(a.properties ?? {}).flatMap(([name, field]) => {
        const other = b.properties?.[name];
        return other ? compare(field, other, isRequest, `${where}.${name}`) : [`${where}.${name} was removed`];
      }),
      ...variantsOf(a).flatMap((variant, index) => {
        const name = nameOf(variant) ?? String(index);
        // Generated clients know a named variant by its name, wherever it stands.
        const other = variant.$ref ? variantsOf(b).find((each) => nameOf(each) === name) : variantsOf(b)[index];
        return other ? compare(variant, other, isRequest, `${where}<${name}>`) : [`${where} lost the variant ${name}`];
      }),
      ...(a.items && b.items ? compare(a.items, b.items, isRequest, `${where}[]`) : []),
      ...(isSchema(a.additionalProperties) && isSchema(b.additionalProperties)
        ? compare(a.additionalProperties, b.additionalProperties, isRequest, `${where}.*`)
        : []),
    ];
  };

  /** A response that was one schema with alternatives, and is now one of several variants. */
  const narrowingChanges = (a: Schema, b: Schema, where: string): string[] => {
    if (variantsOf(a).length === 0) {
      return variantsOf(b).flatMap((variant, index) => compare(a, variant, false, `${where}<${index}>`));
    }
    const fits = variantsOf(a).some((variant) => compare(variant, b, false, where).length === 0);
    return fits ? [] : [`${where} is none of its earlier variants`];
  };

  const contentChanges = (
    old: Content | undefined,
    now: Content | undefined,
    isRequest: boolean,
    where: string,
  ): string[] =>
    Object.entries(old?.content ?? {}).flatMap(([type, { schema }]) => {
      const other = now?.content?.[type];
      return other ? compare(schema, other.schema, isRequest, where) : [`${where} was removed`];
    });

  const parameterChanges = (old: Operation, now: Operation, where: string): string[] => {
    const keyed = ({ parameters = [] }: Operation) => new Map(parameters.map((one) => [one.name ?? one.$ref, one]));
    const [a, b] = [keyed(old), keyed(now)];
    return [
      ...[...a].flatMap(([name, { schema }]) => {
        const other = b.get(name);
        if (!other) return [`${where} parameter ${name} was removed`];
        return schema && other.schema ? compare(schema, other.schema, true, `${where} parameter ${name}`) : [];
      }),
      ...[...b].flatMap(([name, { required }]) =>
        required && !a.get(name)?.required ? [`${where} parameter ${name} is required now`] : [],
      ),
    ];
  };

  const operationChanges = (old: Operation, now: Operation, where: string): string[] => [
    ...parameterChanges(old, now, where),
    ...(now.requestBody?.required && !old.requestBody?.required ? [`${where} needs a body now`] : []),
    ...contentChanges(old.requestBody, now.requestBody, true, `${where} body`),
    ...Object.entries(old.responses).flatMap(([status, answer]) =>
      // An error that cannot happen any more breaks nobody.
      Number(status) >= 400 && !now.responses[status]
        ? []
        : now.responses[status]
          ? contentChanges(answer, now.responses[status], false, `${where} ${status}`)
          : [`${where} ${status} was removed`],
    ),
  ];

  return Object.entries(before.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, old]) => {
      const now = after.paths[path]?.[method];
      const where = `${method.toUpperCase()} ${path}`;
      return now ? operationChanges(old, now, where) : [`${where} was removed`];
    }),
  );
};

/** A request field must not become required; a response field must not become optional. */
const requiredChanges = (a: Schema, b: Schema, isRequest: boolean, where: string): string[] => {
  const [had, has] = [a.required ?? [], b.required ?? []];
  return isRequest
    ? has.filter((name) => !had.includes(name)).map((name) => `${where}.${name} is required now`)
    : had.filter((name) => !has.includes(name)).map((name) => `${where}.${name} may be missing now`);
};

const restrictions = (a: Schema, b: Schema, where: string): string[] => [
  ...(a.enum ?? [])
    .filter((value) => b.enum && !b.enum.includes(value))
    .map((value) => `${where} no longer allows ${value}`),
  ...(b.enum && !a.enum ? [`${where} allows only some values now`] : []),
  ...(b.pattern !== undefined && a.pattern !== b.pattern && b.pattern !== NO_NUL
    ? [`${where} has another pattern`]
    : []),
  ...(b.additionalProperties === false && a.additionalProperties !== false
    ? [`${where} no longer allows unknown fields`]
    : []),
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

const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split('/').at(-1);

/** Whether exactly one of the two is a union of variants. */
const isNarrowed = (a: Schema, b: Schema): boolean => variantsOf(a).length > 0 !== variantsOf(b).length > 0;

const resolved = ({ components }: OpenApi, schema: Schema): Schema =>
  schema.$ref ? (components.schemas[nameOf(schema)!] ?? {}) : schema;
