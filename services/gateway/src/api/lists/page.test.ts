import type { Queryable } from '@cpg/platform/postgres';
import { encodeCursor } from './cursor.ts';
import { mapPage, pageOf, selectPage, selectResources, startOf } from './page.ts';

const LIST = { page: 1, limit: 2, sort: 'desc' } as const;
const QUERY = {
  ...{ table: 'orders.api_orders', owner: ['merchant_id', 'mer_1'], list: LIST, columns: ['status'] },
  filters: [],
} satisfies Parameters<typeof selectPage>[1];
const COUNTS = { name: 'orders.counts', keys: ['status'] };
const placeOf = (id: string) => ({ createdAtUs: '7', id });

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** A database that answers with these rows, and keeps the statements. */
const databaseOf = (rows: object[] = [{ id: null, total: 0 }]) => {
  const statements: Statement[] = [];
  const query = async (statement: Statement) => {
    statements.push(statement);
    return { rows };
  };
  return { db: { query } as unknown as Queryable, statements };
};
const statementOf = async (more: object): Promise<Statement> => {
  const { db, statements } = databaseOf();
  await selectPage(db, { ...QUERY, ...more });
  return statements[0]!;
};

test.each<[number, number, string[], string[], number, boolean]>([
  [1, 0, [], [], 0, false],
  [1, 1, ['a'], ['a'], 1, false],
  [1, 2, ['a', 'b'], ['a', 'b'], 1, false],
  [1, 3, ['a', 'b', 'c'], ['a', 'b'], 2, true],
  [2, 3, ['c'], ['c'], 2, false],
])('page %i of %i items', (page, total, found, items, totalPages, hasNext) => {
  const query = { ...QUERY, list: { ...LIST, page } };
  expect(pageOf(query, total, found, placeOf)).toEqual({
    ...{ items, limit: 2, count: items.length, total, page, totalPages },
    ...(hasNext && { next_cursor: encodeCursor(query, placeOf('b')) }),
  });
});

test('a filter that is true or false is a condition of the statement, not a value', async () => {
  const { text, values } = await statementOf({ filters: [['due_back', true]] });
  expect(text).toContain('merchant_id = $1 and due_back');
  expect((await statementOf({ filters: [['due_back', false]] })).text).toContain('merchant_id = $1 and not due_back');
  expect(values).not.toContain(true);
});

test('a page starts after its cursor, which has no page number beside it', () => {
  const cursor = encodeCursor(QUERY, placeOf('ord_1'));
  expect(startOf(QUERY)).toBeUndefined();
  expect(startOf({ ...QUERY, list: { ...LIST, cursor } })).toEqual(placeOf('ord_1'));
  expect(() => startOf({ ...QUERY, list: { ...LIST, cursor, page: 2 } })).toThrow('cannot be used with `cursor`');
});

test('an empty page has the total alone', async () => {
  const { db } = databaseOf([{ id: null, total: 7 }]);
  expect(await selectPage(db, QUERY)).toMatchObject({ items: [], count: 0, total: 7, totalPages: 4 });
});

test('a page of resources has them as the API shows them', async () => {
  const rows = ['a', 'b', 'c'].map((id) => ({ id, total: 3, created_at_us: '7', item: `{"of":"${id}"}` }));
  expect(await selectResources(databaseOf(rows).db, QUERY)).toMatchObject({
    items: [{ of: 'a' }, { of: 'b' }],
    next_cursor: encodeCursor(QUERY, placeOf('b')),
  });
});

test('a mapped page has its counts', () => {
  const page = pageOf(QUERY, 3, [1, 2, 3], () => placeOf('ord_2'));
  expect(mapPage(page, (item) => item * 10)).toEqual({ ...page, items: [10, 20] });
});

test.each([
  [1, 0],
  [3, 4],
])('page %i reads one row more than it shows, after %i others', async (page, offset) => {
  const { values } = await statementOf({ list: { ...LIST, page } });
  expect(values).toEqual(['mer_1', 3, offset]);
});

test('a statement has one name, and one for each text', async () => {
  const [one, same, other] = await Promise.all([
    statementOf({}),
    statementOf({ owner: ['merchant_id', 'mer_2'], list: { ...LIST, page: 2 } }),
    statementOf({ list: { ...LIST, sort: 'asc' } }),
  ]);
  expect(same.name).toBe(one.name);
  expect(other.name).not.toBe(one.name);
});

test.each<[string, object, boolean]>([
  ['without filters', {}, true],
  ['with a filter that the counts have', { filters: [['status', 'paid']] }, true],
  ['with a filter that the counts do not have', { filters: [['reference', 'r']] }, false],
  ['with a filter that is not used', { filters: [['reference', undefined]] }, true],
  ['without counts', { counts: undefined }, false],
])('a total %s comes from counts: %s', async (_, more, isCounted) => {
  const { text } = await statementOf({ counts: COUNTS, ...more });
  expect(text.includes('from orders.counts')).toBe(isCounted);
});

const at = (text: string) => new Date(`2026-01-${text}Z`);

/** The conditions of a total on days and times, with the values in their places. */
const conditionsOf = ({ text, values }: Statement): string[] => {
  const shown = text.replace(/\$(\d+)/g, (_, place: string) => {
    const value = values[Number(place) - 1];
    return value instanceof Date ? value.toISOString().slice(8, 16) : String(value);
  });
  const [, total = ''] = /total as(.+?)page as/s.exec(shown) ?? [];
  return [...total.matchAll(/(day|created_at) ([<>=]+) \(?(\d+T[\d:]{5})/g)].map(([, ...parts]) => parts.join(' '));
};

test.each<[string, string | undefined, string | undefined, string[]]>([
  [
    'from the middle of a day',
    '10T06:00',
    undefined,
    ['day >= 11T00:00', 'created_at >= 10T06:00', 'created_at < 11T00:00'],
  ],
  [
    'to the middle of a day',
    undefined,
    '12T06:00',
    ['day < 12T00:00', 'created_at >= 12T00:00', 'created_at <= 12T06:00'],
  ],
  ['of a part of one day', '10T06:00', '10T07:00', ['created_at >= 10T06:00', 'created_at <= 10T07:00']],
  [
    'of one whole day',
    '10T00:00',
    '11T00:00',
    [
      ...['day >= 10T00:00', 'day < 11T00:00', 'created_at >= 10T00:00', 'created_at < 10T00:00'],
      ...['created_at >= 11T00:00', 'created_at <= 11T00:00'],
    ],
  ],
])('a total %s has the counts of whole days, and the rows around them', async (_, from, to, conditions) => {
  const list = { ...LIST, ...(from && { from_date: at(from) }), ...(to && { to_date: at(to) }) };
  expect(conditionsOf(await statementOf({ counts: COUNTS, list }))).toEqual(conditions);
});
