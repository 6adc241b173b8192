import { type FaultDetail, MAX_FAULT_DETAILS } from '@cpg/contracts';
import type { z } from 'zod';

type Issue = z.core.$ZodRawIssue;

/** Describes an issue that zod found, without zod's own terms. A schema's own `error` text takes precedence. Pass it to
 *  `parse` as `error`. */
export const describeIssue = (issue: Issue): string => {
  if (issue.input === undefined && issue.code !== 'unrecognized_keys') return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return typeText(issue);
    case 'invalid_value':
      return oneOf(issue.values);
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

const typeText = ({ expected, input, inst }: Extract<Issue, { code: 'invalid_type' }>): string => {
  if (expected === 'number' && typeof input === 'number') return 'must be a finite number';
  if (inst && 'format' in inst._zod.def && inst._zod.def.format === 'safeint') return TYPES.int!;
  return TYPES[expected] ?? `must be of the type ${expected}`;
};

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
  if ((input as Record<string, unknown> | null)?.[discriminator] === undefined) return 'is required';
  return oneOf(options);
};

const oneOf = (values: readonly unknown[]): string => {
  const texts = values.map((value) => (typeof value === 'bigint' ? String(value) : JSON.stringify(value)));
  return texts.length === 1 ? `must be ${texts[0]}` : `must be one of ${texts.join(', ')}`;
};

/** The parts of a request that schemas validate: the path that a fault of the whole part has, and the word for an
 *  entry. */
const PARTS: Record<string, { whole: string; entry: string }> = {
  querystring: { whole: 'query', entry: 'parameter' },
  params: { whole: 'path', entry: 'parameter' },
  headers: { whole: 'headers', entry: 'header' },
};
const BODY = { whole: 'body', entry: 'field' };

/** One detail per fault of a zod error, up to `MAX_FAULT_DETAILS`. An unknown field is reported at its own path. `part`
 *  is Fastify's name for the part of the request that was parsed. */
export const validationDetails = (error: z.ZodError, part = 'body'): FaultDetail[] => {
  const { whole, entry } = PARTS[part] ?? BODY;
  const issues = error.issues.slice(0, MAX_ISSUES);
  return issues
    .filter((issue) => isTightest(issue, issues))
    .flatMap((issue) => {
      const pathTo = (...keys: PropertyKey[]) => [...issue.path, ...keys].map(String).join('.') || whole;
      if (issue.code === 'unrecognized_keys')
        return issue.keys
          .slice(0, MAX_FAULT_DETAILS)
          .map((key) => ({ path: pathTo(key), message: `is not a known ${entry}` }));
      return [{ path: pathTo(), message: issue.message }];
    })
    .slice(0, MAX_FAULT_DETAILS);
};

/** Two issues of one field can be one fault. */
const MAX_ISSUES = 2 * MAX_FAULT_DETAILS;

/** False for the bound of a safe integer on a number that also breaks the bound of its field. */
const isTightest = (issue: z.core.$ZodIssue, issues: readonly z.core.$ZodIssue[]): boolean =>
  !issues.some(
    (other) =>
      other.code === issue.code &&
      String(other.path) === String(issue.path) &&
      ((other.code === 'too_big' && issue.code === 'too_big' && other.maximum < issue.maximum) ||
        (other.code === 'too_small' && issue.code === 'too_small' && other.minimum > issue.minimum)),
  );
