const COMPONENT = '#/components/schemas/';

type Schemas = Record<string, unknown>;

export interface Document {
  paths: Record<string, unknown>;
  components: { schemas: Schemas };
}

/** Makes the schemas that were generated from zod read as if they were written by hand: one per name, and only those that are used. */
export const tidySchemas = <T extends Document>(document: T): T => keepReferenced(rewrite(onePerName(document), plain));

/** The generator writes each schema twice: `XInput` for requests, and `X` for answers, which forbids new fields. Ours are the same both
 *  ways, and answers may grow within a version, so X is what `XInput` says. */
const onePerName = <T extends Document>(document: T): T => {
  const inputs = Object.entries(document.components.schemas).filter(([name]) => name.endsWith('Input'));
  const named = inputs.map(([name, schema]) => [name.slice(0, -'Input'.length), schema]);
  return withSchemas(document, Object.fromEntries(named) as Schemas);
};

const plain = (node: Record<string, unknown>): unknown => {
  if (typeof node.$ref === 'string') {
    // Any JSON value: the generated definition refers to itself where OpenAPI tools do not look.
    if (node.$ref.includes('__shared')) return {};
    return { ...node, $ref: node.$ref.startsWith(COMPONENT) ? node.$ref.replace(/Input$/, '') : node.$ref };
  }
  const { minimum, maximum, pattern, ...rest } = node;
  return {
    ...rest,
    ...(minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && { minimum }),
    ...(maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    // The format says it in fewer words.
    ...(pattern !== undefined && node.format !== 'date-time' && { pattern }),
  };
};

/** Bottom up: every object of the document, replaced by what `change` makes of it. */
const rewrite = <T>(document: T, change: (node: Record<string, unknown>) => unknown): T =>
  JSON.parse(JSON.stringify(document), (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? change(value as Record<string, unknown>)
      : value,
  ) as T;

/** Drops the components that nothing leads to. */
const keepReferenced = <T extends Document>(document: T): T => {
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
  return withSchemas(document, Object.fromEntries([...kept].sort().map((name) => [name, schemas[name]])));
};

const referencedBy = (node: unknown): string[] =>
  [...JSON.stringify(node ?? null).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map((match) => match[1]!);

const withSchemas = <T extends Document>(document: T, schemas: Schemas): T => ({
  ...document,
  components: { ...document.components, schemas },
});
