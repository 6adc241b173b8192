import { decodedHex } from './hex-parts.ts';

const parts = (...texts: string[]) => texts.map((text) => Buffer.from(text));

test('decodes a text, wherever its parts end', () => {
  const text = '00fFa5107e';
  for (let first = 0; first <= text.length; first += 1)
    for (let second = first; second <= text.length; second += 1) {
      const pieces = parts(text.slice(0, first), text.slice(first, second), text.slice(second));
      expect(decodedHex(pieces)).toEqual(Buffer.from(text, 'hex'));
    }
});

test('decodes a text of single digits, and of none', () => {
  expect(decodedHex(parts(...'00fFa5'))).toEqual(Buffer.from('00ffa5', 'hex'));
  expect(decodedHex([])).toEqual(Buffer.alloc(0));
});

test.each<[string, string[]]>([
  ['an odd number of digits', ['00ff', 'a']],
  ['another character at the end of a part', ['00fg', 'a5']],
  ['another character in a byte of two parts', ['00f', 'ga5']],
  ['another character at the end', ['00ff', 'a ']],
  ['a character whose code ends like that of a digit', ['00ff', 'aİ']],
])('refuses %s', (_, texts) => {
  expect(decodedHex(parts(...texts))).toBeNull();
});

test('returns bytes that are alone in their buffer', () => {
  expect(decodedHex(parts('00ff'))!.buffer.byteLength).toBe(2);
});
