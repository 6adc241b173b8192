const COMPONENT = '#/components/schemas/';

type Schemas = Record<string, unknown>;

/** Makes the schemas that were generated from zod read as ones written by hand. */
export const tidySchemas = <T extends { paths: unknown; components: { schemas: Schemas } }>(document: T): T =>
  nameInputsPlainly(keepReferenced(rewrite(document, plain)));

/** Bottom up: every object of the document, replaced by what `change` makes of it. */
const rewrite = <T>(document: T, change: (node: Record<string, unknown>) => unknown): T =>
  JSON.parse(JSON.stringify(document), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? change(value as Record<string, unknown>)
      : value,
  ) as T;

const plain = (node: Record<string, unknown>): unknown => {
  const { $ref, ...rest } = node;
  // Any JSON value: the generated definition refers to itself where OpenAPI tools do not look.
  if (typeof $ref === 'string' && $ref.includes('__shared')) return {};
  if (rest.type === 'integer') {
    if (rest.minimum === Number.MIN_SAFE_INTEGER) delete rest.minimum;
    if (rest.maximum === Number.MAX_SAFE_INTEGER) delete rest.maximum;
  }
  // The format says it, in fewer words.
  if (rest.format === 'date-time') delete rest.pattern;
  return { ...($ref !== undefined && { $ref }), ...rest };
};

/** Drops the components that nothing leads to. */
const keepReferenced = <T extends { paths: unknown; components: { schemas: Schemas } }>(document: T): T => {
  const { schemas } = document.components;
  const kept = new Set<string>();
  const follow = (node: unknown): void => {
    for (const name of referencedBy(node)) {
      if (kept.has(name)) continue;
      kept.add(name);
      follow(schemas[name]);
    }
  };
  follow(document.paths);
  return withSchemas(document, Object.fromEntries(Object.entries(schemas).filter(([name]) => kept.has(name))));
};

/** `XInput` is X where no answer has an X, and where both are the same but for what an answer may have more. */
const nameInputsPlainly = <T extends { components: { schemas: Schemas } }>(document: T): T => {
  const { schemas } = document.components;
  const open = openAnswers(schemas);
  const plainName = (name: string) => {
    const stem = name.replace(/Input$/, '');
    return stem === name || stem in schemas ? name : stem;
  };
  const named = Object.entries(open).map(([name, schema]) => [plainName(name), schema] as const);
  return rewrite(withSchemas(document, Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))), (node) => {
    if (typeof node.$ref !== 'string' || !node.$ref.startsWith(COMPONENT)) return node;
    return { ...node, $ref: COMPONENT + plainName(node.$ref.slice(COMPONENT.length)) };
  });
};

/** Answers may grow new fields within a version, so their schemas are open; what comes in is closed. */
const openAnswers = (schemas: Schemas): Schemas =>
  Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      name.endsWith('Input')
        ? schema
        : rewrite(schema, (node) => {
            if (node.additionalProperties !== false) return node;
            const { additionalProperties: _closed, ...rest } = node;
            return rest;
          }),
    ]),
  );

const withSchemas = <T extends { components: { schemas: Schemas } }>(document: T, schemas: Schemas): T => ({
  ...document,
  components: { ...document.components, schemas },
});

const referencedBy = (node: unknown): string[] =>
  [...JSON.stringify(node ?? null).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]!);
