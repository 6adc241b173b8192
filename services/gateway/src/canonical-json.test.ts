import { canonicalJson } from './canonical-json.ts';

test('equal values are equal texts, whatever the order of their names', () => {
  expect(canonicalJson({ b: [{ y: 1, x: null }], a: 'z' })).toBe(canonicalJson({ a: 'z', b: [{ x: null, y: 1 }] }));
  expect(canonicalJson({ b: 1, a: [2, 1] })).toBe('{"a":[2,1],"b":1}');
});

test('lists in another order are other texts', () => {
  expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});
