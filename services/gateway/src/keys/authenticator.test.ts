import type { CredentialWithMerchant } from '../queries/credentials.ts';
import { type ApiKey, makeApiKey } from './api-key.ts';
import { type Authenticator, createAuthenticator } from './authenticator.ts';
import type { KeyAlgorithm } from './hash.ts';

const CACHE_TTL_MS = 3_000;
const ADDRESS = '203.0.113.9';

let clock: number;
let lookups: string[];
let verifications: number;
let used: string[];
let credentials: Map<string, CredentialWithMerchant>;
let databaseResponse: Promise<void>;
let authenticator: Authenticator;
let key: ApiKey;

const hashOf = (secret: string) => `hash of ${secret}`;

const credentialFor = (of: ApiKey, alg: KeyAlgorithm = 'HMAC-SHA256'): CredentialWithMerchant => ({
  id: 'key_1',
  merchant_id: 'mer_1',
  kid: of.kid,
  status: 'active',
  scopes: ['orders:self:read'],
  alg,
  salt: 'salt',
  secret_hash: hashOf(of.secret),
  last4: of.text.slice(-4),
  version: 1,
  environment: of.environment,
  allowed_ips: [],
  created_at: new Date(0),
  updated_at: null,
  last_used_at: null,
  rotated_at: null,
  revoked_at: null,
  expires_at: null,
  payment_methods: [],
});

const change = (more: Partial<CredentialWithMerchant>) =>
  credentials.set(key.kid, { ...credentials.get(key.kid)!, ...more });
const ask = (text = key.text, from = ADDRESS, skipExpensive = false) =>
  authenticator.authenticate(text, from, skipExpensive);

beforeEach(() => {
  clock = 1_000_000;
  lookups = [];
  verifications = 0;
  used = [];
  databaseResponse = Promise.resolve();
  key = makeApiKey('sandbox');
  credentials = new Map([[key.kid, credentialFor(key)]]);
  authenticator = createAuthenticator({
    environment: 'sandbox',
    verify: async (secret, stored) => {
      verifications += 1;
      return stored.secret_hash === hashOf(secret);
    },
    findCredential: async (kid) => {
      lookups.push(kid);
      const credential = credentials.get(kid) ?? null;
      await databaseResponse;
      return credential;
    },
    onUse: (kid) => used.push(kid),
    now: () => new Date(clock),
    cacheTtlMs: CACHE_TTL_MS,
  });
});

test('returns the merchant and scopes of a valid key, and records its use', async () => {
  expect(await ask()).toEqual({
    kid: key.kid,
    merchantId: 'mer_1',
    scopes: new Set(['orders:self:read']),
    paymentMethods: [],
  });
  expect(used).toEqual([key.kid]);
});

test('sequential and concurrent requests share one lookup', async () => {
  await Promise.all([ask(), ask(), ask()]);
  await ask();
  expect(lookups).toHaveLength(1);
});

test('does not verify the secret again when a reloaded credential has the same hash', async () => {
  await ask();
  clock += CACHE_TTL_MS;
  await ask();
  expect({ lookups: lookups.length, verifications }).toEqual({ lookups: 2, verifications: 1 });
});

test('a revocation takes effect when the cached credential expires', async () => {
  await ask();
  change({ status: 'revoked' });
  clock += CACHE_TTL_MS - 1;
  expect(await ask()).not.toBeNull();
  clock += 1;
  expect(await ask()).toBeNull();
});

describe('while the database responds slowly', () => {
  let respond: () => void;
  beforeEach(() => {
    databaseResponse = new Promise((resolve) => (respond = resolve));
  });

  test('the age of a cached credential counts from when the query was sent', async () => {
    const early = ask();
    change({ status: 'revoked' });
    clock += CACHE_TTL_MS;
    respond();
    expect(await early).not.toBeNull();
    expect(await ask()).toBeNull();
  });

  test('a later request sees a revocation while an earlier lookup is in flight', async () => {
    const early = ask();
    change({ status: 'revoked' });
    clock += CACHE_TTL_MS;
    const late = ask();
    respond();
    expect([await early, await late]).toEqual([expect.anything(), null]);
  });

  test('a lookup that started earlier and ends later does not replace a newer result', async () => {
    const early = ask();
    databaseResponse = Promise.resolve();
    change({ status: 'revoked' });
    clock += CACHE_TTL_MS - 1;
    expect(await ask(key.text, ADDRESS, true)).toBeNull();
    respond();
    await early;
    expect(await ask()).toBeNull();
  });
});

test('a cached key expires on time', async () => {
  change({ expires_at: new Date(clock + 10) });
  expect(await ask()).not.toBeNull();
  clock += 9;
  expect(await ask()).not.toBeNull();
  clock += 1;
  expect(await ask()).toBeNull();
});

test('rejects a known kid with another secret, even while the right key is cached', async () => {
  await ask();
  expect(await ask(`ak_sandbox_${key.kid}${'x'.repeat(43)}`)).toBeNull();
});

test('rejects a key of the other environment', async () => {
  const live = makeApiKey('live');
  credentials.set(live.kid, credentialFor(live));
  expect(await ask(live.text)).toBeNull();
  change({ environment: 'live' });
  expect(await ask()).toBeNull();
});

test('rejects a key from an address that it does not allow', async () => {
  change({ allowed_ips: ['203.0.113.0/24'] });
  expect(await ask(key.text, ADDRESS)).not.toBeNull();
  expect(await ask(key.text, '198.51.100.1')).toBeNull();
});

test('rejects an unknown key and does not cache the rejection', async () => {
  credentials.delete(key.kid);
  expect(await ask()).toBeNull();
  credentials.set(key.kid, credentialFor(key));
  expect(await ask()).not.toBeNull();
});

test('verifies the secret again when the stored hash has changed', async () => {
  await ask();
  clock += CACHE_TTL_MS;
  change({ secret_hash: hashOf('another secret') });
  expect(await ask()).toBeNull();
});

test.each<KeyAlgorithm>(['SCRYPT', 'ARGON2ID'])(
  'with skipExpensive, a %s key is refused unless its secret is already verified',
  async (alg) => {
    credentials.set(key.kid, credentialFor(key, alg));
    expect(await ask(key.text, ADDRESS, true)).toBeNull();
    expect(await ask()).not.toBeNull();
    clock += CACHE_TTL_MS;
    expect(await ask(key.text, ADDRESS, true)).not.toBeNull();
  },
);

test('throws when the database is unavailable', async () => {
  const broken = createAuthenticator({
    environment: 'sandbox',
    verify: async () => true,
    findCredential: () => Promise.reject(new Error('unavailable')),
    onUse: () => {},
    now: () => new Date(clock),
  });
  await expect(broken.authenticate(key.text, ADDRESS)).rejects.toThrow('unavailable');
});
