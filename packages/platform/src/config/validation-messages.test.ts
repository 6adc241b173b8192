import { invalidRequest } from '@cpg/contracts';
import { z } from 'zod';
import { describeIssue, validationDetails } from './validation-messages.ts';

const faults = (schema: z.ZodType, value: unknown, part?: string): string[] => {
  const parsed = schema.safeParse(value, { error: describeIssue });
  return parsed.success ? [] : validationDetails(parsed.error, part).map(({ path, message }) => `${path}: ${message}`);
};
const field = (schema: z.ZodType) => z.object({ lines: z.array(z.object({ x: schema })) });
const faultsOf = (schema: z.ZodType, x: unknown) => faults(field(schema), { lines: [{ x }] });

test.each<[string, z.ZodType, unknown, string]>([
  ['a missing string', z.string(), undefined, 'is required'],
  ['a missing choice', z.enum(['a', 'b']), undefined, 'is required'],
  ['a missing object', z.strictObject({}), undefined, 'is required'],
  ['a missing list', z.array(z.string()), undefined, 'is required'],
  ['a missing map', z.record(z.string(), z.json()), undefined, 'is required'],
  ['null for a string', z.string(), null, 'must be a string'],
  ['a number for a string', z.string(), 5, 'must be a string'],
  ['a string for a number', z.number(), '5', 'must be a number'],
  ['infinity for a number', z.number(), Infinity, 'must be a finite number'],
  ['a string for a whole number', z.int(), '5', 'must be a whole number'],
  ['a fraction for a whole number', z.int().min(5).max(9), 5.5, 'must be a whole number'],
  ['a string for a flag', z.boolean(), 'true', 'must be true or false'],
  ['an object for a list', z.array(z.string()), {}, 'must be an array'],
  ['a list for an object', z.strictObject({}), [], 'must be an object'],
  ['a list for a map', z.record(z.string(), z.json()), [], 'must be an object'],
  ['a value for a forbidden field', z.never().optional(), 1, 'is not allowed'],
  ['an unknown choice', z.enum(['a', 'b']), 'c', 'must be one of "a", "b"'],
  ['another constant', z.literal('a'), 'c', 'must be "a"'],
  ['another flag', z.literal(true), false, 'must be true'],
  ['an empty string', z.string().min(1), '', 'must not be empty'],
  ['a short string', z.string().min(3), 'ab', 'must be at least 3 characters'],
  ['a long string', z.string().max(2), 'abc', 'must be at most 2 characters'],
  ['a string of two characters for one', z.string().max(1), 'ab', 'must be at most 1 character'],
  ['a string of another length', z.string().length(2), 'abc', 'must be exactly 2 characters'],
  ['an empty list', z.array(z.string()).min(1), [], 'must have at least 1 item'],
  ['a short list', z.array(z.string()).min(2), ['a'], 'must have at least 2 items'],
  ['a long list', z.array(z.string()).max(1), ['a', 'b'], 'must have at most 1 item'],
  ['a list of another length', z.array(z.string()).length(2), ['a'], 'must have exactly 2 items'],
  ['a small number', z.number().min(5), 4, 'must be at least 5'],
  ['a large number', z.number().max(5), 6, 'must be at most 5'],
  ['a zero for a positive number', z.number().positive(), 0, 'must be more than 0'],
  ['a number that must be less', z.number().lt(1.5), 1.5, 'must be less than 1.5'],
  ['a number past the field and past safe integers', z.int().max(43_200), 1e300, 'must be at most 43200'],
  ['a number below the field and below safe integers', z.int().min(5), -1e300, 'must be at least 5'],
  ['a number past safe integers', z.int(), 1e300, 'must be at most 9007199254740991'],
  ['a number between multiples', z.number().multipleOf(5), 6, 'must be a multiple of 5'],
  ['another email', z.email(), 'ana', 'must be an email address'],
  ['another URL', z.url(), 'shop', 'must be a URL'],
  [
    'another date',
    z.iso.datetime(),
    'today',
    'must be an ISO 8601 date and time with a timezone, like 2026-01-31T12:00:00Z',
  ],
  ['another prefix', z.string().startsWith('ord_'), 'pay_', 'must start with "ord_"'],
  ['another suffix', z.string().endsWith('.'), 'a', 'must end with "."'],
  ['text without a part', z.string().includes('@'), 'a', 'must contain "@"'],
  ['another pattern', z.string().regex(/^a$/), 'b', 'must match /^a$/'],
  ['another UUID', z.uuid(), 'b', 'must have the format uuid'],
  ['no variant', z.union([z.string(), z.number()]), true, 'is not valid'],
  ['a message of the schema', z.string({ error: 'must be an amount' }), 1, 'must be an amount'],
])('%s is described at its path', (_, schema, value, message) => {
  expect(faultsOf(schema, value)).toEqual([`lines.0.x: ${message}`]);
});

test('the discriminator of a variant is described like a choice', () => {
  const variants = z.discriminatedUnion('rail', [
    z.object({ rail: z.literal('a') }),
    z.object({ rail: z.literal('b') }),
  ]);
  expect(faultsOf(variants, {})).toEqual(['lines.0.x.rail: is required']);
  expect(faultsOf(variants, { rail: 'c' })).toEqual(['lines.0.x.rail: must be one of "a", "b"']);
});

test('unknown names are called by what they are in each part of a request', () => {
  const known = z.strictObject({ lines: z.array(z.strictObject({ x: z.int() })).optional() });
  expect(faults(known, { tip: 1, lines: [{ x: 1, y: 2 }] })).toEqual([
    'lines.0.y: is not a known field',
    'tip: is not a known field',
  ]);
  expect(faults(known, { tip: '1' }, 'querystring')).toEqual(['tip: is not a known parameter']);
  expect(faults(known, 'a', 'querystring')).toEqual(['query: must be an object']);
  expect(faults(known, undefined)).toEqual(['body: is required']);
});

test('a map with a name that is not allowed is described', () => {
  expect(faultsOf(z.partialRecord(z.enum(['MXN']), z.string()), { USD: '1' })).toEqual([
    'lines.0.x.USD: is not a known field',
  ]);
  expect(faultsOf(z.record(z.string().max(1), z.string()), { ab: '1' })).toEqual([
    'lines.0.x.ab: has a name that is not allowed',
  ]);
});

test('of many faults the first 20 are named, and long names are cut', () => {
  const parsed = z
    .strictObject({ list: z.array(z.string()) })
    .safeParse({ list: Array.from({ length: 50_000 }, () => 1) });
  const details = validationDetails(parsed.error!);
  expect(details).toHaveLength(20);
  expect(details.at(-1)).toMatchObject({ path: 'list.19' });
  const name = 'n'.repeat(100_000);
  const unknown = invalidRequest(validationDetails(z.strictObject({}).safeParse({ [name]: 1 }).error!));
  expect(unknown.details).toEqual([{ path: `${'n'.repeat(255)}…`, message: 'is not a known field' }]);
  expect(unknown.message).toHaveLength(256 + ': is not a known field'.length);
});
