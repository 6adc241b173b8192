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
  ['null for a string', z.string(), null, 'must be a string, not null'],
  ['null for a choice', z.enum(['a', 'b']), null, 'must be one of "a", "b", not null'],
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
  ['a choice in other letters', z.enum(['order:paid', 'x']), 'Order.Paid', 'must be written "order:paid"'],
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

describe('with the schema of a request', () => {
  const hinted = (schema: z.ZodType, value: unknown): string[] => {
    const parsed = schema.safeParse(value, { error: (issue) => describeIssue(issue, schema) });
    return parsed.success
      ? []
      : validationDetails(parsed.error, 'body', schema).map(({ path, message }) => `${path}: ${message}`);
  };
  const Line = z.strictObject({
    unit_price: z.string(),
    note: z.string().optional(),
    kind: z.enum(['a']).default('a'),
  });
  const Body = z
    .strictObject({
      lines: z.array(Line).max(2).optional(),
      names: z.record(z.string(), z.string().optional()).optional(),
      size: z.int().positive().nullish(),
      is_on: z.boolean().optional(),
    })
    .refine(() => true);

  test.each<[string, unknown, string[]]>([
    ['null for an optional list', { lines: null }, ['lines: must not be null: leave it out']],
    [
      'null for an optional field of an entry',
      { lines: [{ unit_price: '1', note: null }] },
      ['lines.0.note: must not be null: leave it out'],
    ],
    [
      'null for a field with a default',
      { lines: [{ unit_price: '1', kind: null }] },
      ['lines.0.kind: must not be null: leave it out'],
    ],
    [
      'null for a required field',
      { lines: [{ unit_price: null }] },
      ['lines.0.unit_price: must be a string, not null'],
    ],
    ['null for an entry of a map', { names: { x: null } }, ['names.x: must not be null: leave it out']],
    ['null for an entry of a list', { lines: [null] }, ['lines.0: must be an object, not null']],
    [
      'a text for a list, which also has a length',
      { lines: 'gateway_pay' },
      ['lines: must be an array: ["gateway_pay"]'],
    ],
    [
      'a long text for a list',
      { lines: 'x'.repeat(63) },
      ['lines: must be an array, also for one entry: put [ ] around it'],
    ],
    [
      'an object for a list',
      { lines: { unit_price: '1' } },
      ['lines: must be an array, also for one entry: put [ ] around it'],
    ],
    ['a list for an object', { lines: [[]] }, ['lines.0: must be an object, not an array']],
    ['a number for a text', { lines: [{ unit_price: 850 }] }, ['lines.0.unit_price: must be a string: "850"']],
    ['a number in quotes', { size: '5' }, ['size: must be a whole number, without quotes']],
    ['a word for a number', { size: 'five' }, ['size: must be a whole number']],
    ['a flag in quotes', { is_on: 'True' }, ['is_on: must be true or false, without quotes']],
    ['a word for a flag', { is_on: 'yes' }, ['is_on: must be true or false']],
    ['a name in camel case', { isOn: true }, ['isOn: is not a known field: did you mean is_on?']],
    [
      'a part of a name',
      { lines: [{ price: '1' }] },
      ['lines.0.unit_price: is required', 'lines.0.price: is not a known field: did you mean unit_price?'],
    ],
    ['a name like no other', { tip: 1 }, ['tip: is not a known field: the fields are lines, names, size, is_on']],
    ['a short part of a name', { is: 1 }, ['is: is not a known field: the fields are lines, names, size, is_on']],
  ])('%s', (_, value, faults) => expect(hinted(Body, value).sort()).toEqual(faults.sort()));
});

test('a value is repeated only where a request has it: settings can be secrets', () =>
  expect(faultsOf(z.array(z.string()), 'secret')).toEqual(['lines.0.x: must be an array']));

test('a rule that presumes a bound is not broken by a value beyond the bound', () => {
  const quantity = z
    .number()
    .positive()
    .refine((value) => /^\d+$/.test(String(value)), { error: 'must be whole' });
  expect(faultsOf(quantity, -1)).toEqual(['lines.0.x: must be more than 0']);
  expect(faultsOf(quantity, 0.5)).toEqual(['lines.0.x: must be whole']);
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
  expect(faults(known, undefined)).toEqual(['body: is required: send a JSON object']);
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
