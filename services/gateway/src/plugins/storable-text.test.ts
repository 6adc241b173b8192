import { faultIn } from './storable-text.ts';

test.each([['plain'], ['emoji 🎉'], ['\u{10ffff}'], [null], [1.5], [{ a: [{ b: '\n\t' }] }]])(
  '%j can be kept',
  (value) => {
    expect(faultIn(value, [])).toBeNull();
  },
);

test.each([
  [{ a: ['x', 'y\0'] }, 'a.1'],
  [{ a: '\ud83c' }, 'a'],
  [{ a: { 'b\0': 1 } }, 'a'],
  ['\0', 'body'],
])('%j cannot, because of %s', (value, path) => {
  expect(faultIn(value, [])?.path).toBe(path);
});

test('32 levels can be kept and 33 cannot', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 'x' : { a: nested(levels - 1) });
  expect(faultIn(nested(32), [])).toBeNull();
  expect(faultIn(nested(33), [])?.message).toMatch(/nested/);
});
