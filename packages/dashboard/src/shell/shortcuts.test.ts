import { createShortcuts } from './shortcuts.ts';

const press = (...keys: (string | { key: string; isTyping?: boolean; hasModifier?: boolean; atMs?: number })[]) => {
  const read = createShortcuts();
  return keys.map((each, index) => {
    const key = typeof each === 'string' ? { key: each } : each;
    return read({ isTyping: false, hasModifier: false, atMs: index * 100, ...key });
  });
};

test('"/" searches', () => expect(press('/')).toEqual(['search']));
test('"g" and then "o" goes to the orders', () => expect(press('g', 'o')).toEqual([undefined, 'orders']));
test('"o" alone does nothing', () => expect(press('o', 'x', 'o')).toEqual([undefined, undefined, undefined]));
test('the second key has to follow soon', () =>
  expect(press('g', { key: 'o', atMs: 5_000 })).toEqual([undefined, undefined]));
test('keys that go into a field do nothing', () =>
  expect(press({ key: '/', isTyping: true }, { key: 'g', hasModifier: true }, 'o')).toEqual([
    undefined,
    undefined,
    undefined,
  ]));
