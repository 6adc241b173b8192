import { describeIssue } from '@cpg/platform';
import { Instant, ListQuery, RangeStart } from './list-query.ts';

test.each([
  ['JavaScript', '2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00.000Z'],
  ['Java Instant', '2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['Java Instant with nanoseconds', '2026-01-31T12:00:00.123456789Z', '2026-01-31T12:00:00.123Z'],
  ['Java OffsetDateTime at a full minute', '2026-01-31T12:00Z', '2026-01-31T12:00:00.000Z'],
  ['Java OffsetDateTime', '2026-01-31T12:00+02:00', '2026-01-31T10:00:00.000Z'],
  ['Python isoformat', '2026-01-31T12:00:00+00:00', '2026-01-31T12:00:00.000Z'],
  ['Python isoformat with microseconds', '2026-01-31T12:00:00.000001+05:30', '2026-01-31T06:30:00.000Z'],
  ['Python strftime with %z', '2026-01-31T12:00:00+0000', '2026-01-31T12:00:00.000Z'],
  ['Python strftime with %f and %z', '2026-01-31T12:00:00.500000-0330', '2026-01-31T15:30:00.500Z'],
  ['Go RFC3339Nano', '2026-01-31T12:00:00.1Z', '2026-01-31T12:00:00.100Z'],
  ['PostgreSQL', '2026-01-31T12:00:00.12+00', '2026-01-31T12:00:00.120Z'],
])('reads an instant as %s prints it', (_, text, expected) => {
  expect(Instant.parse(text).toISOString()).toBe(expected);
});

const FORM = 'must be ISO 8601 with a timezone, like 2026-01-31T12:00:00Z';

test.each([
  ['2026-01-31', 'needs a time and a timezone, like 2026-01-31T00:00:00Z'],
  ['2026-01-31T12:00:00', 'needs a timezone, like 2026-01-31T12:00:00Z for UTC'],
  ['2026-01-31T12:00:00.5', 'needs a timezone, like 2026-01-31T12:00:00.5Z for UTC'],
  ['2026-01-31T12:00:00 00:00', 'has a space in the place of the + of its timezone: write + as %2B in a URL'],
  ['2026-01-31T12:00:00 0100', 'has a space in the place of the + of its timezone: write + as %2B in a URL'],
  ['2026-02-30T12:00:00Z', 'has a day that does not exist: 2026-02-30'],
  ['2026-02-30', 'has a day that does not exist: 2026-02-30'],
  ['2026-13-01', 'has a day that does not exist: 2026-13-01'],
  ['2026-01-31T12Z', FORM],
  ['2026-01-31T12:00.5Z', FORM],
  ['2026-01-31T12:00:00Z00', FORM],
  ['2026-01-31 12:00:00Z', FORM],
  ['2026-01-31T24:00:00Z', FORM],
  ['2026-01-31T12:00:60Z', FORM],
  ['2026-01-31T12:00:00+24:00', FORM],
  ['1769860800', FORM],
  ['31.01.2026', FORM],
  ['', FORM],
])('refuses %j, and says why', (text, message) => {
  expect(Instant.safeParse(text).error?.issues).toMatchObject([{ message }]);
});

test('a range starts at the first whole millisecond in it, and ends at the last', () => {
  const text = '2026-01-31T12:00:00.000000001Z';
  expect(RangeStart.parse(text).toISOString()).toBe('2026-01-31T12:00:00.001Z');
  expect(Instant.parse(text).toISOString()).toBe('2026-01-31T12:00:00.000Z');
  expect(RangeStart.parse('2026-01-31T12:00:00.001000000Z').toISOString()).toBe('2026-01-31T12:00:00.001Z');
});

test('a parameter of a list names its own limits', () => {
  const { error } = ListQuery.safeParse({ page: '0', limit: '101', sort: 'up' }, { error: describeIssue });
  expect(error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)).toEqual([
    'page: must be a whole number from 1 to 1000',
    'limit: must be a whole number from 1 to 100',
    'sort: must be one of "asc", "desc"',
  ]);
});

test('a list starts with the ten newest items', () => {
  expect(ListQuery.parse({})).toEqual({ page: 1, limit: 10, sort: 'desc' });
});

test.each([
  ['page', '1', 1],
  ['page', '1000', 1_000],
  ['limit', '1', 1],
  ['limit', '100', 100],
  ['page', '1001', null],
  ['limit', '0', null],
  ['limit', '1e1', null],
  ['limit', '1.5', null],
  ['limit', ' 1', null],
  ['limit', '-1', null],
])('the %s %j is read as %p', (name, text, number) => {
  const { data } = ListQuery.safeParse({ [name]: text });
  expect((data as Record<string, unknown> | undefined)?.[name] ?? null).toBe(number);
});
