import { type FaultDetail, MAX_FAULT_DETAILS } from '@cpg/contracts';
import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

/** Describes an issue that zod found, without zod's own terms. A schema's own `error` text takes precedence. Pass it to
 *  `parse` as `error`. With the `schema` of a request it also knows which fields are optional, and may repeat a short
 *  value: not for settings, which can be secrets. */
export const describeIssue = (issue: Issue, schema?: z.ZodType): string => {
  if (issue.input === undefined && issue.code !== 'unrecognized_keys') return 'is required';
  if (issue.input === null) {
    if (schema && isOptional(schema, issue.path ?? [])) return 'must not be null: leave it out';
    return `${faultText(issue, schema)}, not null`;
  }
  return faultText(issue, schema);
};

const faultText = (issue: Issue, schema: z.ZodType | undefined): string => {
  switch (issue.code) {
    case 'invalid_type':
      return typeText(issue, schema !== undefined);
    case 'invalid_value':
      return oneOf(issue.values, issue.input);
    case 'too_small':
      return limitText(issue, issue.minimum, 'at least', 'more than');
    case 'too_big':
      return limitText(issue, issue.maximum, 'at most', 'less than');
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return formatText(issue);
    case 'unrecognized_keys':
      return 'is not known';
    case 'invalid_key':
      return 'has a name that is not allowed';
    case 'invalid_element':
      return 'has an entry that is not valid';
    case 'invalid_union':
      return unionText(issue);
    default:
      return 'is not valid';
  }
};

const TYPES: Record<string, string> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be an array',
  object: 'must be an object',
  record: 'must be an object',
  null: 'must be null',
  date: 'must be a date',
  never: 'is not allowed',
};

const typeText = ({ expected, input, inst }: Extract<Issue, { code: 'invalid_type' }>, mayRepeat: boolean): string => {
  if (expected === 'number' && typeof input === 'number') return 'must be a finite number';
  const isInt = inst && 'format' in inst._zod.def && inst._zod.def.format === 'safeint';
  const text = (isInt ? TYPES.int : TYPES[expected]) ?? `must be of the type ${expected}`;
  return `${text}${mayRepeat ? typeHint(expected, input) : ''}`;
};

const MAX_REPEATED = 64;

/** How to write the value that was given, in the right type. */
const typeHint = (expected: string, input: unknown): string => {
  if (Array.isArray(input)) return expected === 'object' || expected === 'record' ? ', not an array' : '';
  if (expected === 'array') {
    const text = typeof input === 'object' ? '' : JSON.stringify(input);
    return text !== '' && text.length <= MAX_REPEATED ? `: [${text}]` : ', also for one entry: put [ ] around it';
  }
  if (expected === 'string' && (typeof input === 'number' || typeof input === 'boolean')) return `: "${input}"`;
  if (typeof input !== 'string') return '';
  const isUnquoted =
    expected === 'boolean' ? /^(true|false)$/i.test(input) : ['number', 'int'].includes(expected) && isNumber(input);
  return isUnquoted ? ', without quotes' : '';
};

const isNumber = (text: string): boolean => text.trim() !== '' && Number.isFinite(Number(text));

const limitText = (
  { origin, inclusive = true, exact }: Extract<Issue, { code: 'too_small' | 'too_big' }>,
  limit: number | bigint,
  reached: string,
  passed: string,
): string => {
  const bound = exact ? 'exactly' : inclusive ? reached : passed;
  if (origin === 'string') {
    if (limit === 1 && bound === 'at least') return 'must not be empty';
    return `must be ${bound} ${plural(limit, 'character')}`;
  }
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${plural(limit, 'item')}`;
  if (origin === 'object' || origin === 'map') return `must have ${bound} ${plural(limit, 'field')}`;
  return `must be ${bound} ${limit}`;
};

const plural = (count: number | bigint, noun: string): string => `${count} ${noun}${Number(count) === 1 ? '' : 's'}`;

const FORMATS: Record<string, string> = {
  email: 'must be an email address',
  url: 'must be a URL',
  datetime: 'must be an ISO 8601 date and time with a timezone, like 2026-01-31T12:00:00Z',
  date: 'must be an ISO 8601 date, like 2026-01-31',
};

const formatText = (issue: Extract<Issue, { code: 'invalid_format' }>): string => {
  const { prefix, suffix, includes } = issue as { prefix?: string; suffix?: string; includes?: string };
  if (prefix !== undefined) return `must start with ${JSON.stringify(prefix)}`;
  if (suffix !== undefined) return `must end with ${JSON.stringify(suffix)}`;
  if (includes !== undefined) return `must contain ${JSON.stringify(includes)}`;
  if (issue.format === 'regex') return `must match ${issue.pattern}`;
  return FORMATS[issue.format] ?? `must have the format ${issue.format}`;
};

const unionText = ({ input, ...issue }: Extract<Issue, { code: 'invalid_union' }>): string => {
  const { discriminator, options = [] } = issue as { discriminator?: string; options?: unknown[] };
  if (discriminator === undefined) return 'is not valid';
  const given = (input as Record<string, unknown> | null)?.[discriminator];
  return given === undefined ? 'is required' : oneOf(options, given);
};

const oneOf = (values: readonly unknown[], input?: unknown): string => {
  const meant = typeof input === 'string' && values.find((value) => typeof value === 'string' && isAlike(value, input));
  if (meant) return `must be written ${JSON.stringify(meant)}`;
  const texts = values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value)));
  return texts.length === 1 ? `must be ${texts[0]}` : `must be one of ${texts.join(', ')}`;
};

/** A name without capitals and punctuation: `orderId` and `order_id` are alike, `order.paid` and `order:paid` too. */
const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

const isAlike = (name: string, other: string): boolean => plain(name) === plain(other);

/** The known name that a client most likely meant: one that is alike, or else one that contains the other. */
const meantBy = (name: string, known: readonly string[]): string | undefined =>
  known.find((each) => isAlike(each, name)) ??
  known.find((each) => {
    const [short, long] = [plain(each), plain(name)].sort((a, b) => a.length - b.length) as [string, string];
    return short.length >= MIN_MEANT_LENGTH && long.includes(short);
  });

const MIN_MEANT_LENGTH = 4;

type Part = z.core.$ZodType;

/** The schema of the field at a path of a request; undefined where only the value decides which schema it is. */
const partAt = (schema: Part, path: readonly PropertyKey[]): Part | undefined =>
  path.reduce<Part | undefined>((part, key) => part && partOf(bare(part), key), schema);

const partOf = (part: Part, key: PropertyKey): Part | undefined => {
  const { def } = (part as z.core.$ZodTypes)._zod;
  if (def.type === 'object') return Object.hasOwn(def.shape, key) ? def.shape[key as string] : undefined;
  if (def.type === 'array') return def.element;
  return def.type === 'record' ? def.valueType : undefined;
};

/** The schema without `optional()`, `default()` and the like. */
const bare = (part: Part): Part => {
  const { def } = (part as z.core.$ZodTypes)._zod;
  return 'innerType' in def ? bare(def.innerType) : part;
};

const isOptional = (schema: z.ZodType, path: readonly PropertyKey[]): boolean =>
  partAt(schema, path)?._zod.optin !== undefined;

const fieldsAt = (schema: z.ZodType, path: readonly PropertyKey[]): string[] => {
  const part = partAt(schema, path);
  const def = part && (bare(part) as z.core.$ZodTypes)._zod.def;
  return def?.type === 'object' ? Object.keys(def.shape) : [];
};

/** The parts of a request that schemas validate: the path that a fault of the whole part has, and the word for an
 *  entry. */
const PARTS: Record<string, { whole: string; entry: string }> = {
  querystring: { whole: 'query', entry: 'parameter' },
  params: { whole: 'path', entry: 'parameter' },
  headers: { whole: 'headers', entry: 'header' },
};
const BODY = { whole: 'body', entry: 'field' };

/** One detail per fault of a zod error, up to `MAX_FAULT_DETAILS`. An unknown field is reported at its own path, with
 *  the known field of `schema` that may have been meant. `part` is Fastify's name for the part of the request that was
 *  parsed. */
export const validationDetails = (error: z.ZodError, part = 'body', schema?: z.ZodType): FaultDetail[] => {
  const { whole, entry } = PARTS[part] ?? BODY;
  const issues = error.issues.slice(0, MAX_ISSUES);
  return issues
    .filter((issue) => isTightest(issue, issues) && isFirstCause(issue, issues))
    .flatMap((issue) => {
      const pathTo = (...keys: PropertyKey[]) => [...issue.path, ...keys].map(String).join('.') || whole;
      if (issue.code !== 'unrecognized_keys') {
        const isBody = part === 'body' && issue.path.length === 0 && issue.message === 'is required';
        return [{ path: pathTo(), message: `${issue.message}${isBody ? ': send a JSON object' : ''}` }];
      }
      const fields = schema ? fieldsAt(schema, issue.path) : [];
      return issue.keys.slice(0, MAX_FAULT_DETAILS).map((key) => {
        return { path: pathTo(key), message: `is not a known ${entry}${hintFor(key, fields, entry)}` };
      });
    })
    .slice(0, MAX_FAULT_DETAILS);
};

/** More names than these do not help. */
const MAX_LISTED = 20;

const hintFor = (key: string, fields: readonly string[], entry: string): string => {
  const meant = meantBy(key, fields);
  if (meant) return `: did you mean ${meant}?`;
  if (fields.length === 0 || fields.length > MAX_LISTED) return '';
  return fields.length === 1 ? `: the only ${entry} is ${fields[0]}` : `: the ${entry}s are ${fields.join(', ')}`;
};

/** Two issues of one field can be one fault. */
const MAX_ISSUES = 2 * MAX_FAULT_DETAILS;

/** A value of another type also breaks bounds, and one that breaks a bound breaks rules that presume it. */
const CAUSES: Partial<Record<z.core.$ZodIssue['code'], number>> = { invalid_type: 0, custom: 2 };
const causeOf = ({ code }: z.core.$ZodIssue): number => CAUSES[code] ?? 1;

const isFirstCause = (issue: z.core.$ZodIssue, issues: readonly z.core.$ZodIssue[]): boolean =>
  issue.code === 'unrecognized_keys' ||
  !issues.some((other) => String(other.path) === String(issue.path) && causeOf(other) < causeOf(issue));

/** False for the bound of a safe integer on a number that also breaks the bound of its field. */
const isTightest = (issue: z.core.$ZodIssue, issues: readonly z.core.$ZodIssue[]): boolean =>
  !issues.some(
    (other) =>
      other.code === issue.code &&
      String(other.path) === String(issue.path) &&
      ((other.code === 'too_big' && issue.code === 'too_big' && other.maximum < issue.maximum) ||
        (other.code === 'too_small' && issue.code === 'too_small' && other.minimum > issue.minimum)),
  );
