import { looksLikeSql, sqlChanges } from './sql.ts';

const changed = (text: string) =>
  sqlChanges(text).map(({ start, before, after }) => text.slice(0, start) + after + text.slice(start + before.length));

test.each([
  ['where a = 1', ['where a <> 1']],
  ['where a <> 1', ['where a = 1']],
  ['where a < 1', ['where a <= 1', 'where a > 1']],
  ['where a >= 1', ['where a > 1', 'where a < 1']],
  ['where a and b', ['where a or b']],
  ['where a or b', ['where a and b']],
  ['where a is null', ['where a is not null']],
  ['where a is not null', ['where a is null']],
  ['update a set b = 1, c = 2 where d = 3', ['update a set b = 1, c = 2 where d <> 3']],
  ['update a set b = case when c = 1 then 2 end, d = 3', ['update a set b = case when c <> 1 then 2 end, d = 3']],
  ['update a set b = (select 1 where c = 1), d = 3', ['update a set b = (select 1 where c <> 1), d = 3']],
  ['where a between 1 and 2 and b', ['where a between 1 and 2 or b']],
  ["where a -> 'b' @> c and d", ["where a -> 'b' @> c or d"]],
  ["select ' and = ' -- a = b", []],
  ['select f(a => 1)', []],
])('%s', (text, expected) => {
  expect(changed(text)).toEqual(expected);
});

test.each([
  ['select a from b', true],
  ['  and a = $1', true],
  ['select', false],
  ['Select an order', false],
  ['a sentence and another', false],
])('%s looks like SQL: %s', (text, expected) => {
  expect(looksLikeSql(text)).toBe(expected);
});
