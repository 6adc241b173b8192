import { verifySecret } from './hash.ts';

// Changed cost parameters would invalidate stored keys. Verifying one takes seconds of CPU here.
test('a stored ARGON2ID hash stays valid', async () => {
  const salt = Buffer.from('salt of thirty-two bytes, exactly').toString('base64url');
  const stored = { salt, secret_hash: '5xUeTubwFYWokxDiinctwCMGi2ZFxMB3Pej4gW1PzGE', pepper_id: null };
  expect(await verifySecret('the secret', { alg: 'ARGON2ID', ...stored }, ['pepper'])).toBe('valid');
});
