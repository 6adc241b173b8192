import { existsSync } from 'node:fs';
import { GROUPS, isIn, isTried, onePerPlace, randomFrom, shuffled } from './groups.ts';

const CHECKOUT = new URL('../../../../', import.meta.url).pathname;

test('each group names folders of the checkout', () => {
  expect(
    Object.values(GROUPS)
      .flat()
      .filter((path) => !existsSync(`${CHECKOUT}${path}`)),
  ).toEqual([]);
});

test.each([
  ['services/orders/src/order/decide.ts', true],
  ['services/gateway/src/checkout/view/way.tsx', true],
  ['services/orders/src/order/decide.test.ts', false],
  ['services/orders/src/testing/record.ts', false],
  ['services/orders/src/main.ts', false],
  ['packages/contracts/src/examples/values.ts', false],
  ['services/gateway/src/checkout/view/page.css', false],
])('changes of %s are tried: %s', (path, expected) => {
  expect(isTried(path)).toBe(expected);
});

test('a path is in a folder of that whole name', () => {
  expect(isIn('a/b/c.ts', ['a/b'])).toBe(true);
  expect(isIn('a/b/c.ts', ['a/b/c.ts'])).toBe(true);
  expect(isIn('a/bc/d.ts', ['a/b'])).toBe(false);
});

const NUMBERS = Array.from({ length: 100 }, (_, index) => index);

test('a seed always gives the same order, and another seed another one', () => {
  expect(shuffled(NUMBERS, randomFrom(7))).toEqual(shuffled(NUMBERS, randomFrom(7)));
  expect(shuffled(NUMBERS, randomFrom(7))).not.toEqual(shuffled(NUMBERS, randomFrom(8)));
});

test('a shuffle keeps each item once', () => {
  expect(shuffled(NUMBERS, randomFrom(7)).sort((a, b) => a - b)).toEqual(NUMBERS);
});

test('each place gives one of its items, so a place with many changes counts once', () => {
  const items = NUMBERS.map((number) => ({ place: String(number % 10), number }));

  const chosen = onePerPlace(items, ({ place }) => place, randomFrom(7));

  expect(chosen.map(({ place }) => place).sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  expect(new Set(chosen.map(({ number }) => Math.floor(number / 10))).size).toBeGreaterThan(2);
});
