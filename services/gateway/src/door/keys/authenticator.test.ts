import type { CredentialWithMerchant } from './credentials.ts';
import { type ApiKey, makeApiKey } from './api-key.ts';
import { type AuthenticationBudget, type Authenticator, createAuthenticator } from './authenticator.ts';
import type { KeyAlgorithm } from './hash.ts';

const CACHE_TTL_MS = 3_000;
const ADDRESS = '203.0.113.9';

let clock: number;
let wallClock: number;
let lookups: string[];
let verifications: number;
let used: string[];
let credentials: Map<string, CredentialWithMerchant>;
let databaseResponse: Promise<void>;
let authenticator: Authenticator;
let key: ApiKey;

const hashOf = (secret: string) => `hash of ${secret}`;

const credentialFor = (apiKey: ApiKey, alg: KeyAlgorithm = 'HMAC-SHA256'): CredentialWithMerchant => ({
  id: 'key_1',
  merchant_id: 'mer_1',
  kid: apiKey.kid,
  status: 'active',
  scopes: ['orders:self:read'],
  alg,
  salt: 'salt',
  secret_hash: hashOf(apiKey.secret),
  pepper_id: null,
  last4: apiKey.text.slice(-4),
  label: null,
  version: 1,
  environment: apiKey.environment,
  allowed_ips: [],
  created_at: new Date(0),
  updated_at: null,
  last_used_at: null,
  last_used_from: null,
  rotated_at: null,
  revoked_at: null,
  expires_at: null,
  payment_methods: [],
  merchant_disabled_at: null,
});

const changeCredential = (changes: Partial<CredentialWithMerchant>) =>
  credentials.set(key.kid, { ...credentials.get(key.kid)!, ...changes });
const authenticate = (apiKey = key.text, address = ADDRESS, budget?: AuthenticationBudget) =>
  authenticator.authenticate(apiKey, address, budget);
const BROKE: AuthenticationBudget = { id: 'broke', allowsLookup: () => false, allowsSlowHash: () => false };
const NO_SLOW_HASH: AuthenticationBudget = { ...BROKE, allowsLookup: () => true };

beforeEach(() => {
  clock = 1_000_000;
  wallClock = Date.parse('2026-01-31T12:00:00.000Z');
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
    onUse: (kid, { address }) => used.push(`${kid} ${address}`),
    now: () => new Date(wallClock),
    nowMs: () => clock,
    cacheTtlMs: CACHE_TTL_MS,
  });
});

test('returns the merchant and scopes of a valid key, and records its use', async () => {
  expect(await authenticate()).toEqual({
    by: 'key',
    actor: `key:${key.kid}`,
    kid: key.kid,
    keyId: 'key_1',
    merchantId: 'mer_1',
    scopes: new Set(['orders:self:read']),
    paymentMethods: [],
    isDisabled: false,
  });
  expect(used).toEqual([`${key.kid} ${ADDRESS}`]);
});

test('sequential and concurrent requests share one lookup', async () => {
  await Promise.all([authenticate(), authenticate(), authenticate()]);
  await authenticate();
  expect(lookups).toHaveLength(1);
});

test('does not verify the secret again when a reloaded credential has the same hash', async () => {
  await authenticate();
  clock += CACHE_TTL_MS;
  await authenticate();
  expect({ lookups: lookups.length, verifications }).toEqual({ lookups: 2, verifications: 1 });
});

test('a revocation takes effect when the cached credential expires', async () => {
  await authenticate();
  changeCredential({ status: 'revoked' });
  clock += CACHE_TTL_MS - 1;
  expect(await authenticate()).not.toBeNull();
  clock += 1;
  expect(await authenticate()).toBeNull();
});

test.each([-1, 1])('a revocation takes effect in time although the wall clock moves by %s hours', async (hours) => {
  await authenticate();
  changeCredential({ status: 'revoked' });
  wallClock += hours * 3_600_000;
  expect(await authenticate()).not.toBeNull();
  clock += CACHE_TTL_MS;
  expect(await authenticate()).toBeNull();
});

describe('when the database responds slowly', () => {
  let respond: () => void;
  beforeEach(() => {
    databaseResponse = new Promise((resolve) => (respond = resolve));
  });

  test('the age of a cached credential counts from the time at which the query was sent', async () => {
    const early = authenticate();
    changeCredential({ status: 'revoked' });
    clock += CACHE_TTL_MS;
    respond();
    expect(await early).not.toBeNull();
    expect(await authenticate()).toBeNull();
  });

  test('a later request sees a revocation while an earlier lookup is in flight', async () => {
    const early = authenticate();
    changeCredential({ status: 'revoked' });
    clock += CACHE_TTL_MS;
    const late = authenticate();
    respond();
    expect([await early, await late]).toEqual([expect.anything(), null]);
  });

  test('a lookup that ends leaves a later one to be shared', async () => {
    const early = authenticate();
    clock += CACHE_TTL_MS;
    databaseResponse = new Promise(() => {});
    void authenticate();
    respond();
    await early;
    clock += CACHE_TTL_MS - 1;
    void authenticate();
    expect(lookups).toHaveLength(2);
  });

  test('a rejection that started earlier does not end a later one', async () => {
    credentials.delete(key.kid);
    const early = authenticate();
    databaseResponse = Promise.resolve();
    clock += 500;
    await authenticate(key.text, ADDRESS, NO_SLOW_HASH);
    respond();
    await early;
    clock += 999;
    await authenticate();
    expect(lookups).toHaveLength(2);
  });

  test('a lookup that started earlier does not replace the result of a later one', async () => {
    const early = authenticate();
    databaseResponse = Promise.resolve();
    changeCredential({ status: 'revoked' });
    clock += CACHE_TTL_MS - 1;
    expect(await authenticate(key.text, ADDRESS, NO_SLOW_HASH)).toBeNull();
    respond();
    await early;
    expect(await authenticate()).toBeNull();
  });
});

test('a cached key expires on time', async () => {
  changeCredential({ expires_at: new Date(wallClock + 10) });
  expect(await authenticate()).not.toBeNull();
  wallClock += 9;
  expect(await authenticate()).not.toBeNull();
  wallClock += 1;
  expect(await authenticate()).toBeNull();
});

test('rejects a known key id with a wrong secret, even while the correct key is cached', async () => {
  await authenticate();
  expect(await authenticate(`ak_sandbox_${key.kid}${'x'.repeat(43)}`)).toBeNull();
});

test('rejects a key of the other environment', async () => {
  const live = makeApiKey('live');
  credentials.set(live.kid, credentialFor(live));
  expect(await authenticate(live.text)).toBeNull();
  changeCredential({ environment: 'live' });
  expect(await authenticate()).toBeNull();
});

test('rejects a key from an address that it does not allow', async () => {
  changeCredential({ allowed_ips: ['203.0.113.0/24'] });
  expect(await authenticate(key.text, ADDRESS)).not.toBeNull();
  expect(await authenticate(key.text, '198.51.100.1')).toBeNull();
});

test('knows the merchant of a verified key without a lookup', async () => {
  expect(authenticator.merchantOf(key.text, ADDRESS)).toBeUndefined();
  await authenticate();
  expect(authenticator.merchantOf(key.text, ADDRESS)).toBe('mer_1');
  expect(authenticator.merchantOf(`${key.text}x`, ADDRESS)).toBeUndefined();
  expect(lookups).toHaveLength(1);
});

test.each<[string, Partial<CredentialWithMerchant>]>([
  ['is revoked', { status: 'revoked' }],
  ['has expired', { expires_at: new Date('2026-01-31T12:00:00.000Z') }],
  ['is not allowed from the address', { allowed_ips: ['198.51.100.0/24'] }],
])('a key that %s takes no place of its merchant', async (_, changes) => {
  await authenticate();
  changeCredential(changes);
  clock += CACHE_TTL_MS;
  expect(await authenticate()).toBeNull();
  expect(authenticator.merchantOf(key.text, ADDRESS)).toBeUndefined();
});

test('caches the rejection of an unknown key for one second', async () => {
  credentials.delete(key.kid);
  await Promise.all([authenticate(), authenticate()]);
  expect(await authenticate()).toBeNull();
  expect(lookups).toHaveLength(1);
  credentials.set(key.kid, credentialFor(key));
  clock += 999;
  expect(await authenticate()).toBeNull();
  clock += 1;
  expect(await authenticate()).not.toBeNull();
});

test('caches the rejection of a wrong secret, and not of other keys with its id', async () => {
  const guess = `ak_sandbox_${key.kid}${'x'.repeat(43)}`;
  await authenticate(guess);
  await authenticate(guess);
  expect({ lookups: lookups.length, verifications }).toEqual({ lookups: 1, verifications: 1 });
  expect(await authenticate()).not.toBeNull();
});

test('without budget, loads only keys that were verified before', async () => {
  const unknown = makeApiKey('sandbox').text;
  expect(await authenticate(unknown, ADDRESS, BROKE)).toBeNull();
  expect(await authenticate(key.text, ADDRESS, BROKE)).toBeNull();
  expect(lookups).toEqual([]);
  expect(await authenticate()).not.toBeNull();
  clock += CACHE_TTL_MS;
  expect(await authenticate(key.text, ADDRESS, BROKE)).not.toBeNull();
  expect(lookups).toHaveLength(2);
});

test('verifies the secret again when the stored hash has changed', async () => {
  await authenticate();
  clock += CACHE_TTL_MS;
  changeCredential({ secret_hash: hashOf('another secret') });
  expect(await authenticate()).toBeNull();
});

test.each<KeyAlgorithm>(['SCRYPT', 'ARGON2ID'])(
  'asks the budget before it verifies the secret of a %s key for the first time',
  async (alg) => {
    credentials.set(key.kid, credentialFor(key, alg));
    expect(await authenticate(key.text, ADDRESS, NO_SLOW_HASH)).toBeNull();
    expect(verifications).toBe(0);
    expect(await authenticate()).not.toBeNull();
    clock += CACHE_TTL_MS;
    expect(await authenticate(key.text, ADDRESS, NO_SLOW_HASH)).not.toBeNull();
    expect(verifications).toBe(1);
  },
);

test('throws when the database is unavailable', async () => {
  const broken = createAuthenticator({
    environment: 'sandbox',
    verify: async () => true,
    findCredential: () => Promise.reject(new Error('unavailable')),
    onUse: () => {},
    now: () => new Date(wallClock),
  });
  await expect(broken.authenticate(key.text, ADDRESS)).rejects.toThrow('unavailable');
});
