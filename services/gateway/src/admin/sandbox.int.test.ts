import { createPool, type Pool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { merchantById } from '../api/merchants/merchant-queries.ts';
import { Scope } from '../door/keys/api-key.ts';
import { createAuthenticator } from '../door/keys/authenticator.ts';
import { credentialByKid } from '../door/keys/credentials.ts';
import { verifySecret } from '../door/keys/hash.ts';
import { userOfLink } from '../identity/sign-in-links.ts';
import { log } from '../testing/jest-gateway.ts';
import { ensureSandboxMerchant } from './sandbox.ts';

const pepper = 'pepper of the tests with thirty-two characters';

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
beforeEach(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'sandbox-test', max: 1, log });
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const ensure = (apiKey?: string) =>
  ensureSandboxMerchant({ databaseUrl: database.url, pepper, ...(apiKey && { apiKey }) });

const callerOf = (key: string | null) =>
  createAuthenticator({
    environment: 'sandbox',
    verify: async (secret, stored) => (await verifySecret(secret, stored, pepper.split(','))) !== 'invalid',
    findCredential: (kid) => credentialByKid(pool, kid),
    onUse: () => {},
    now: () => new Date(),
  }).authenticate(key ?? '', '127.0.0.1');

test('creates the merchant and a key with all scopes on an empty database, and returns the key once', async () => {
  const first = await ensure();
  expect(await callerOf(first.apiKey)).toMatchObject({ merchantId: first.merchantId, scopes: new Set(Scope.options) });
  expect(await ensure()).toMatchObject({ merchantId: first.merchantId, apiKey: null });
  const { resource } = (await merchantById(pool, first.merchantId))!;
  expect(resource.payment_methods.map(({ type }) => type).sort()).toEqual(['crypto_deposit', 'gateway_pay']);
  expect(resource.payment_methods[0]?.supported_currencies).toHaveLength(6);
});

test.each([32, 128])('uses a given key of %i characters, also when repeated', async (length) => {
  const key = `ak_sandbox_${'K'.repeat(length)}`;
  const first = await ensure(key);
  expect(first.apiKey).toBe(key);
  expect(await ensure(key)).toEqual({ ...first, signInPath: expect.any(String) });
  expect(await callerOf(key)).toMatchObject({ merchantId: first.merchantId, scopes: new Set(Scope.options) });
});

test('adds a given key to an existing one, and replaces the secret of a key with the same kid', async () => {
  const generated = await ensure();
  const [one, two] = [`ak_sandbox_abcdefghijkl${'1'.repeat(20)}`, `ak_sandbox_abcdefghijkl${'2'.repeat(20)}`];
  await ensure(one);
  await ensure(two);
  expect(await callerOf(generated.apiKey)).not.toBeNull();
  expect(await callerOf(one)).toBeNull();
  expect(await callerOf(two)).not.toBeNull();
});

test.each(['', 'ak_live_', 'x'])('rejects a key of %j and 40 letters', async (prefix) => {
  await expect(ensure(`${prefix}${'a'.repeat(40)}`)).rejects.toThrow(RangeError);
});

test('the owner signs in by the newest link, and stays as somebody changed them', async () => {
  const [first, second] = [await ensure(), await ensure()];
  const userOf = ({ signInPath }: typeof first) => userOfLink(pool, signInPath.split('#link=')[1]!, new Date());
  expect(await userOf(first)).toBeNull();
  expect(await userOf(second)).toMatchObject({ merchant_id: first.merchantId, role: 'owner', name: 'Demo owner' });
  await pool.query(`update gateway.users set role = 'viewer'`);
  expect(await userOf(await ensure())).toMatchObject({ role: 'viewer' });
});
