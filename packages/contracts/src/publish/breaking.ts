type Json = null | boolean | number | string | Json[] | { [key: string]: Json | undefined };
type Schema = { [key: string]: Json | undefined };

/** Keywords that define the kind of a value. Any change of them is breaking. */
const KINDS = ['type', 'const', '$ref', 'format', 'pattern'];
/** Amounts had the limit of requests. Larger ones from a chain failed before they were published. */
const UNLIMITED = {
  from: '^(0|[1-9]\\d{0,17})(\\.\\d{1,18})?$',
  to: '^(0|[1-9]\\d*)(\\.\\d{1,18})?$',
};
/** Keywords that hold schemas by name, by position, or one schema. */
const NAMED = ['properties', '$defs'];
const LISTED = ['anyOf', 'oneOf', 'allOf'];
const SINGLE = ['items', 'additionalProperties', 'propertyNames'];

/** The incompatible differences between two versions of JSON Schema documents, by file name. New documents, properties,
 *  alternatives and enum values are compatible, because readers ignore what they do not know. */
export const breakingDifferences = (before: Record<string, unknown>, after: Record<string, unknown>): string[] =>
  Object.entries(before).flatMap(([name, schema]) =>
    compare(name, schema as Schema, after[name] as Schema | undefined),
  );

const compare = (at: string, before: Schema, after: Schema | undefined): string[] => {
  if (after === undefined) return [`${at} is gone`];
  return [
    ...KINDS.filter((keyword) => !same(before[keyword], after[keyword]) && !isUnlimited(before, after)).map(
      (keyword) => `${at}: ${keyword} was ${text(before[keyword])}, is ${text(after[keyword])}`,
    ),
    ...(after.enum === undefined ? [] : missing(before.enum ?? [null], after.enum)).map((value) =>
      before.enum === undefined ? `${at}: has an enum now` : `${at}: ${text(value)} is no longer allowed`,
    ),
    ...missing(before.required, after.required).map((name) => `${at}: ${text(name)} may be absent now`),
    ...missing(after.required, before.required).map((name) => `${at}: ${text(name)} is required now`),
    ...NAMED.flatMap((keyword) => compareAll(`${at}#${keyword}`, before[keyword], after[keyword])),
    ...LISTED.flatMap((keyword) => compareAll(`${at}#${keyword}`, before[keyword], after[keyword])),
    ...SINGLE.flatMap((keyword) => {
      const [was, is] = [before[keyword], after[keyword]];
      return isSchema(was) && isSchema(is) ? compare(`${at}#${keyword}`, was, is) : [];
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

const isUnlimited = (before: Schema, after: Schema): boolean =>
  before.type === after.type && before.pattern === UNLIMITED.from && after.pattern === UNLIMITED.to;

const missing = (from: Json | undefined, to: Json | undefined): Json[] => {
  const there = Array.isArray(to) ? to : [];
  return Array.isArray(from) ? from.filter((value) => !there.includes(value)) : [];
};

const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const same = (a: Json | undefined, b: Json | undefined): boolean => JSON.stringify(a) === JSON.stringify(b);

const text = (value: Json | undefined): string => (value === undefined ? 'absent' : JSON.stringify(value));
