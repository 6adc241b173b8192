import { newUlid } from '@cpg/platform';
import { decodeCursor, encodeCursor } from './cursor.ts';

const query = {
  table: 'orders.orders',
  columns: [],
  owner: ['merchant_id', `mer_${newUlid()}`],
  filters: [['status', 'paid']],
  list: { page: 1, limit: 10, sort: 'desc' },
} as const;

test('a cursor names the place that it was made from', () => {
  const place = { createdAtUs: '1769860800000001', id: `ord_${newUlid()}` };
  expect(decodeCursor(query, encodeCursor(query, place))).toEqual(place);
});

test.each([
  ['a NUL character, which PostgreSQL refuses', '1', 'ord_\0'],
  ['no id', '1', ''],
  ['text that is no id', '1', 'é'],
  ['a time that is no number', '-1', `ord_${newUlid()}`],
  ['a time out of the range of PostgreSQL', '9'.repeat(18), `ord_${newUlid()}`],
])('a forged cursor with %s is refused', (_, createdAtUs, id) => {
  const forged = encodeCursor(query, { createdAtUs, id });
  expect(() => decodeCursor(query, forged)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});

test.each([
  ['table', { table: 'payments.payments' }],
  ['owner', { owner: ['merchant_id', 'mer_other'] }],
  ['filters', { filters: [['status', 'expired']] }],
  ['sort order', { list: { ...query.list, sort: 'asc' } }],
  ['start', { list: { ...query.list, from_date: new Date(0) } }],
  ['end', { list: { ...query.list, to_date: new Date(0) } }],
] as const)('a cursor of a list with another %s is refused', (_, more) => {
  const cursor = encodeCursor(query, { createdAtUs: '1', id: 'ord_1' });
  expect(() => decodeCursor({ ...query, ...more }, cursor)).toThrow('next_cursor');
});

test('a cursor is valid on a page of another size', () => {
  const place = { createdAtUs: '1', id: 'ord_1' };
  const cursor = encodeCursor(query, place);
  expect(decodeCursor({ ...query, list: { ...query.list, limit: 99 } }, cursor)).toEqual(place);
});

test.each(['=', ' ', '\n', 'A'])('a cursor followed by %j is refused', (more) => {
  const cursor = `${encodeCursor(query, { createdAtUs: '1', id: 'ord_1' })}${more}`;
  expect(() => decodeCursor(query, cursor)).toThrow('next_cursor');
});
