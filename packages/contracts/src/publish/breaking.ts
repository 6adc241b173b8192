type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
type Schema = { [key: string]: Json | undefined };

/** Keywords that define the kind of a value. Any change of them is breaking. */
const KINDS = ['type', 'const', '$ref', '$id', 'format', 'pattern'];
/** Limits that a reader may rely on, for example for the width of a column. */
const HIGHEST = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'];
const LOWEST = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];
/** Keywords that hold schemas by name, by position, or one schema. */
const NAMED = ['properties', '$defs'];
const LISTED = ['anyOf', 'oneOf', 'allOf'];
const SINGLE = ['items', 'additionalProperties', 'propertyNames'];

/** The incompatible differences between two versions of JSON Schema documents, by file name: of the events and webhooks
 *  that others read. New documents, properties, alternatives and enum values are compatible, because readers ignore what
 *  they do not know. A property that is newly required is not: events that are published already lack it. */
export const breakingDifferences = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  Object.entries(before).flatMap(([name, schema]) =>
    compare(name, schema as Schema, after[name] as Schema | undefined),
  );

const compare = (at: string, before: Schema, after: Schema | undefined): string[] => {
  if (after === undefined) return [`${at} is gone`];
  return [
    ...[
      ...KINDS.filter((keyword) => !same(before[keyword], after[keyword])),
      ...HIGHEST.filter((keyword) => isWider(before[keyword], after[keyword], 1)),
      ...LOWEST.filter((keyword) => isWider(before[keyword], after[keyword], -1)),
    ].map((keyword) => `${at}: ${keyword} was ${text(before[keyword])}, is ${text(after[keyword])}`),
    ...(after.enum === undefined ? [] : missing(before.enum ?? [null], after.enum)).map((value) =>
      before.enum === undefined ? `${at}: has an enum now` : `${at}: ${text(value)} is no longer allowed`,
    ),
    ...missing(before.required, after.required).map((name) => `${at}: ${text(name)} may be absent now`),
    ...missing(after.required, before.required).map((name) => `${at}: ${text(name)} is required now`),
    ...NAMED.flatMap((keyword) => compareAll(`${at}#${keyword}`, before[keyword], after[keyword])),
    ...LISTED.flatMap((keyword) => compareAll(`${at}#${keyword}`, before[keyword], after[keyword])),
    ...SINGLE.flatMap((keyword) => {
      const [was, is] = [before[keyword], after[keyword]];
      if (isSchema(was)) return isSchema(is) ? compare(`${at}#${keyword}`, was, is) : [`${at}: ${keyword} is gone`];
      return is === false && was !== false ? [`${at}: ${keyword} is false now`] : [];
    }),
  ];
};

const compareAll = (at: string, before: Json | undefined, after: Json | undefined): string[] => {
  if (before === undefined) return [];
  const now = Object(after ?? {}) as Record<string, Schema | undefined>;
  return Object.entries(before as Record<string, Schema>).flatMap(([key, schema]) =>
    compare(`${at}/${key}`, schema, now[key]),
  );
};

/** Whether a limit is gone, or further away. `direction`: 1 for an upper limit, -1 for a lower one. */
const isWider = (before: Json | undefined, after: Json | undefined, direction: 1 | -1): boolean =>
  typeof before === 'number' && (typeof after !== 'number' || direction * (after - before) > 0);

const missing = (from: Json | undefined, to: Json | undefined): Json[] => {
  const there = Array.isArray(to) ? to : [];
  return Array.isArray(from) ? from.filter((value) => !there.includes(value)) : [];
};

const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const same = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

const text = (value: Json | undefined): string => (value === undefined ? 'absent' : JSON.stringify(value));
