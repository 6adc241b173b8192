import { findUnstorable } from './storable-text.ts';

test.each([
  ['plain'],
  ['emoji 🎉'],
  ['\u{10ffff}'],
  [null],
  [1.5],
  [{ a: [{ b: '\n\t' }] }],
  [{ constructor: 'ACME', prototype: 1 }],
])('%j can be stored', (value) => {
  expect(findUnstorable(value)).toBeNull();
});

test.each<[unknown, string, string]>([
  [{ a: ['x', 'y\0'] }, 'a.1', 'must not contain NUL characters'],
  [{ a: '\ud83c' }, 'a', 'must not contain the lone surrogate \\ud83c (half of a character)'],
  [{ a: { 'b\0': 1 } }, 'a', 'must not contain NUL characters in a field name'],
  ['\0', 'body', 'must not contain NUL characters'],
  [JSON.parse('{"a":{"__proto__":{}}}'), 'a.__proto__', 'is a field name that is not allowed'],
  [{ constructor: { prototype: {} } }, 'constructor.prototype', 'is a field name that is not allowed'],
])('%j cannot be stored because of %s', (value, path, message) => {
  expect(findUnstorable(value)).toEqual({ path, message });
});

test('32 levels of nesting can be stored and 33 cannot', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 'x' : { a: nested(levels - 1) });
  expect(findUnstorable(nested(32))).toBeNull();
  expect(findUnstorable(nested(33))?.message).toMatch(/nested/);
});
