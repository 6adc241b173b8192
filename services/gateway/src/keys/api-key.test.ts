import { makeApiKey, parseApiKey } from './api-key.ts';

test('a new key has a kid of 12 characters and a secret of more than 256 bits', () => {
  const key = makeApiKey('live');
  expect(key.text).toMatch(/^ak_live_[A-Za-z0-9]{55}$/);
  expect(key.kid).toHaveLength(12);
  expect(Math.log2(62) * key.secret.length).toBeGreaterThan(256);
  expect(parseApiKey(key.text)).toEqual(key);
});

test('no two keys are alike', () => {
  expect(new Set(Array.from({ length: 100 }, () => makeApiKey('sandbox').text)).size).toBe(100);
});

test.each([
  [31, false],
  [32, true],
  [128, true],
  [129, false],
])('%i characters after the prefix make a key: %s', (length, isKey) => {
  expect(parseApiKey(`ak_sandbox_${'a'.repeat(length)}`) !== null).toBe(isKey);
});

test.each(['', 'ak_test_', 'sk_live_', 'ak_live-', ' ak_live_', 'AK_LIVE_'])('%j begins no key', (prefix) => {
  expect(parseApiKey(`${prefix}${'a'.repeat(40)}`)).toBeNull();
});

test.each(['_', '-', ' ', 'é', '\0', '\n'])('%j is in no key', (character) => {
  expect(parseApiKey(`ak_live_${'a'.repeat(40)}${character}`)).toBeNull();
});
