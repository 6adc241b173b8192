const COMPONENT = '#/components/schemas/';

type Schemas = Record<string, unknown>;

export interface Document {
  paths: Record<string, unknown>;
  webhooks?: Record<string, unknown>;
  components: { schemas: Schemas };
}

/** Simplifies the schemas generated from zod: one schema per name, no redundant bounds, and only schemas that are
 *  used. */
export const simplifySchemas = <T extends Document>(document: T): T =>
  keepReferenced(rewrite(mergeInputSchemas(document), simplifyNode));

/** The generator writes two schemas per name: `XInput` for requests, and `X` for responses, which forbids unknown
 *  fields. Responses may get new fields within an API version, so `XInput` is used for both. */
const mergeInputSchemas = <T extends Document>(document: T): T => {
  const inputs = Object.entries(document.components.schemas).filter(([name]) => name.endsWith('Input'));
  const named = inputs.map(([name, schema]) => [name.slice(0, -'Input'.length), schema]);
  return withSchemas(document, Object.fromEntries(named) as Schemas);
};

const ANY_JSON = { description: 'Any JSON value. Text in a request must not contain NUL.', pattern: '^[^\\u0000]*$' };

const simplifyNode = (node: Record<string, unknown>): unknown => {
  if (typeof node.$ref === 'string') {
    // The generated schema of any JSON value uses a reference that OpenAPI tools cannot resolve.
    if (node.$ref.includes('__shared')) return ANY_JSON;
    const { example: _, ...rest } = node;
    return { ...rest, $ref: node.$ref.startsWith(COMPONENT) ? node.$ref.replace(/Input$/, '') : node.$ref };
  }
  // zod leaves out the default of a value that it converts.
  const { minimum, maximum, pattern, example, 'x-default': convertedDefault, ...rest } = node;
  return {
    ...rest,
    // Parameters and contents have a schema and show their example; examples of fields are part of those of objects.
    ...(example !== undefined && 'schema' in node && { example }),
    ...(convertedDefault !== undefined && { default: convertedDefault }),
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    // The format `date-time` already implies the pattern.
    ...(pattern !== undefined && node.format !== 'date-time' && { pattern }),
  };
};

/** Replaces every object of the document by the result of `change`, inner objects first. */
const rewrite = <T>(document: T, change: (node: Record<string, unknown>) => unknown): T =>
  JSON.parse(JSON.stringify(document), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? change(value as Record<string, unknown>)
      : value,
  ) as T;

/** Removes the components that no path refers to, directly or indirectly. */
const keepReferenced = <T extends Document>(document: T): T => {
  const { schemas } = document.components;
  const referenced = new Set<string>();
  const follow = (node: unknown): void => {
    for (const name of referencedBy(node)) {
      if (referenced.has(name)) continue;
      referenced.add(name);
      follow(schemas[name]);
    }
  };
  follow(document.paths);
  follow(document.webhooks);
  return withSchemas(document, Object.fromEntries([...referenced].sort().map((name) => [name, schemas[name]])));
};

const referencedBy = (node: unknown): string[] =>
  [...JSON.stringify(node ?? null).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]!);

const withSchemas = <T extends Document>(document: T, schemas: Schemas): T => ({
  ...document,
  components: { ...document.components, schemas },
});
