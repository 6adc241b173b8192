import { findUnstorable } from './storable-text.ts';

test.each([['plain'], ['emoji 🎉'], ['\u{10ffff}'], [null], [1.5], [{ a: [{ b: '\n\t' }] }]])(
  '%j can be stored',
  (value) => {
    expect(findUnstorable(value, [])).toBeNull();
  },
);

test.each([
  [{ a: ['x', 'y\0'] }, 'a.1'],
  [{ a: '\ud83c' }, 'a'],
  [{ a: { 'b\0': 1 } }, 'a'],
  ['\0', 'body'],
])('%j cannot be stored because of %s', (value, path) => {
  expect(findUnstorable(value, [])?.path).toBe(path);
});

test('32 levels of nesting can be stored and 33 cannot', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 'x' : { a: nested(levels - 1) });
  expect(findUnstorable(nested(32), [])).toBeNull();
  expect(findUnstorable(nested(33), [])?.message).toMatch(/nested/);
});
