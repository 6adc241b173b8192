import { createHmac } from 'node:crypto';
import { hashSecret, isSlowHash, type KeyAlgorithm, type SecretHash, verifySecret } from './hash.ts';

const PEPPER = 'pepper';

test.each<KeyAlgorithm>(['HMAC-SHA256', 'SCRYPT'])('%s accepts the hashed secret and no other', async (alg) => {
  const stored = await hashSecret('the secret', PEPPER, alg);
  expect(stored.alg).toBe(alg);
  expect(JSON.stringify(stored)).not.toContain('the secret');
  expect(await verifySecret('the secret', stored, [PEPPER])).toBe('valid');
  expect(await verifySecret('the secreT', stored, [PEPPER])).toBe('invalid');
  expect(await verifySecret('', stored, [PEPPER])).toBe('invalid');
});

// Made with the current cost parameters: changing a parameter would invalidate stored keys.
test('a stored SCRYPT hash stays valid', async () => {
  const salt = Buffer.from('salt of thirty-two bytes, exactly').toString('base64url');
  const stored = { alg: 'SCRYPT', salt, secret_hash: 'TXZ7gKh4eFEjn7ltp5IZkfd72y2fUjv1s8Yc0KMjI3s', pepper_id: null };
  expect(await verifySecret('the secret', stored as SecretHash, [PEPPER])).toBe('valid');
});

test('HMAC-SHA256 is keyed by the pepper and covers salt and secret', async () => {
  const stored = await hashSecret('the secret', PEPPER);
  const mac = createHmac('sha256', PEPPER)
    .update(Buffer.concat([Buffer.from(stored.salt, 'base64url'), Buffer.from('the secret')]))
    .digest('base64url');
  expect(stored.secret_hash).toBe(mac);
  expect(await verifySecret('the secret', stored, ['another pepper'])).toBe('invalid');
});

test('hashing the same secret twice gives different hashes', async () => {
  const [a, b] = await Promise.all([hashSecret('s', PEPPER), hashSecret('s', PEPPER)]);
  expect(a.secret_hash).not.toBe(b.secret_hash);
});

test('a truncated hash never matches', async () => {
  const stored = await hashSecret('s', PEPPER);
  expect(await verifySecret('s', { ...stored, secret_hash: stored.secret_hash.slice(0, 20) }, [PEPPER])).toBe(
    'invalid',
  );
  expect(await verifySecret('s', { ...stored, secret_hash: '' }, [PEPPER])).toBe('invalid');
});

test('SCRYPT and ARGON2ID are expensive, HMAC-SHA256 is not', () => {
  expect((['HMAC-SHA256', 'SCRYPT', 'ARGON2ID'] as const).map(isSlowHash)).toEqual([false, true, true]);
});

test('a secret hashed with an earlier pepper is valid and outdated', async () => {
  const stored = await hashSecret('s', 'old');
  expect(await verifySecret('s', stored, ['new', 'old'])).toBe('outdated');
  expect(await verifySecret('s', stored, ['old', 'new'])).toBe('valid');
  expect(await verifySecret('s', stored, ['new'])).toBe('invalid');
  expect(await verifySecret('other', stored, ['new', 'old'])).toBe('invalid');
});

test('a secret whose pepper was not recorded is outdated, so that it is recorded', async () => {
  const stored = { ...(await hashSecret('s', PEPPER)), pepper_id: null };
  expect(await verifySecret('s', stored, [PEPPER])).toBe('outdated');
});
