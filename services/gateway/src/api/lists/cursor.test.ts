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
