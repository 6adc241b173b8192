import { makeApiKey, parseApiKey } from './api-key.ts';

test('a generated key has a kid of 12 characters and a secret of more than 256 bits', () => {
  const key = makeApiKey('live');
  expect(key.text).toMatch(/^ak_live_[A-Za-z0-9]{55}$/);
  expect(key.kid).toHaveLength(12);
  expect(Math.log2(62) * key.secret.length).toBeGreaterThan(256);
  expect(parseApiKey(key.text)).toEqual(key);
});

test('generated keys are unique', () => {
  expect(new Set(Array.from({ length: 100 }, () => makeApiKey('sandbox').text)).size).toBe(100);
});

test.each([
  [31, false],
  [32, true],
  [128, true],
  [129, false],
])('a key with %i characters after the prefix is valid: %s', (length, isKey) => {
  expect(parseApiKey(`ak_sandbox_${'a'.repeat(length)}`) !== null).toBe(isKey);
});

test.each(['', 'ak_test_', 'sk_live_', 'ak_live-', ' ak_live_', 'AK_LIVE_'])('rejects the prefix %j', (prefix) => {
  expect(parseApiKey(`${prefix}${'a'.repeat(40)}`)).toBeNull();
});

test.each(['_', '-', ' ', 'é', '\0', '\n'])('rejects a key that contains %j', (character) => {
  expect(parseApiKey(`ak_live_${'a'.repeat(40)}${character}`)).toBeNull();
});
