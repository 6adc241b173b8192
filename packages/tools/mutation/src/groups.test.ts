import { existsSync } from 'node:fs';
import { GROUPS, isIn, isTried } from './groups.ts';

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
