import { createHmac } from 'node:crypto';
import { hashSecret, isExpensive, type KeyAlgorithm, verifySecret } from './hash.ts';

const PEPPER = 'pepper';

test.each<KeyAlgorithm>(['HMAC-SHA256', 'SCRYPT'])('%s verifies the secret and no other', async (alg) => {
  const kept = await hashSecret('the secret', PEPPER, alg);
  expect(kept.alg).toBe(alg);
  expect(JSON.stringify(kept)).not.toContain('the secret');
  expect(await verifySecret('the secret', kept, PEPPER)).toBe(true);
  expect(await verifySecret('the secreT', kept, PEPPER)).toBe(false);
  expect(await verifySecret('', kept, PEPPER)).toBe(false);
});

// Made once with the costs that are in force: records stay good only while these are what they are.
const SALT = Buffer.from('salt of thirty-two bytes, exactly').toString('base64url');
test.each<[KeyAlgorithm, string]>([
  ['SCRYPT', 'TXZ7gKh4eFEjn7ltp5IZkfd72y2fUjv1s8Yc0KMjI3s'],
  ['ARGON2ID', '5xUeTubwFYWokxDiinctwCMGi2ZFxMB3Pej4gW1PzGE'],
])('a record with %s that was written before verifies', async (alg, secret_hash) => {
  expect(await verifySecret('the secret', { alg, salt: SALT, secret_hash }, PEPPER)).toBe(true);
});

test('HMAC-SHA256 is keyed by the pepper and covers salt and secret', async () => {
  const kept = await hashSecret('the secret', PEPPER);
  const mac = createHmac('sha256', PEPPER)
    .update(Buffer.concat([Buffer.from(kept.salt, 'base64url'), Buffer.from('the secret')]))
    .digest('base64url');
  expect(kept.secret_hash).toBe(mac);
  expect(await verifySecret('the secret', kept, 'another pepper')).toBe(false);
});

test('the same secret is never hashed alike twice', async () => {
  const [a, b] = await Promise.all([hashSecret('s', PEPPER), hashSecret('s', PEPPER)]);
  expect(a.secret_hash).not.toBe(b.secret_hash);
});

test('a hash that was cut short verifies nothing', async () => {
  const kept = await hashSecret('s', PEPPER);
  expect(await verifySecret('s', { ...kept, secret_hash: kept.secret_hash.slice(0, 20) }, PEPPER)).toBe(false);
  expect(await verifySecret('s', { ...kept, secret_hash: '' }, PEPPER)).toBe(false);
});

test('only the derivations are expensive', () => {
  expect((['HMAC-SHA256', 'SCRYPT', 'ARGON2ID'] as const).map(isExpensive)).toEqual([false, true, true]);
});
