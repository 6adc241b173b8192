import type { KnownCredential } from '../queries/credentials.ts';
import { type ApiKey, makeApiKey } from './api-key.ts';
import { type Authenticator, createAuthenticator } from './authenticator.ts';
import type { KeyAlgorithm } from './hash.ts';

const TRUST_MS = 3_000;
const FROM = '203.0.113.9';

let clock: number;
let looked: string[];
let verified: number;
let used: string[];
let records: Map<string, KnownCredential>;
let delivered: Promise<void>;
let authenticator: Authenticator;
let key: ApiKey;

const hashOf = (secret: string) => `hash of ${secret}`;

const recordOf = (of: ApiKey, alg: KeyAlgorithm = 'HMAC-SHA256'): KnownCredential => ({
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

const change = (more: Partial<KnownCredential>) => records.set(key.kid, { ...records.get(key.kid)!, ...more });
const ask = (text = key.text, from = FROM, sparing = false) => authenticator.authenticate(text, from, sparing);

beforeEach(() => {
  clock = 1_000_000;
  looked = [];
  verified = 0;
  used = [];
  delivered = Promise.resolve();
  key = makeApiKey('sandbox');
  records = new Map([[key.kid, recordOf(key)]]);
  authenticator = createAuthenticator({
    environment: 'sandbox',
    verify: async (secret, kept) => {
      verified += 1;
      return kept.secret_hash === hashOf(secret);
    },
    find: async (kid) => {
      looked.push(kid);
      const record = records.get(kid) ?? null;
      await delivered;
      return record;
    },
    onUse: (kid) => used.push(kid),
    now: () => new Date(clock),
    trustMs: TRUST_MS,
  });
});

test('a good key is its merchant with its scopes, and its use is noted', async () => {
  expect(await ask()).toEqual({
    kid: key.kid,
    merchantId: 'mer_1',
    scopes: new Set(['orders:self:read']),
    paymentMethods: [],
  });
  expect(used).toEqual([key.kid]);
});

test('requests in a row, and at once, need one look-up', async () => {
  await Promise.all([ask(), ask(), ask()]);
  await ask();
  expect(looked).toHaveLength(1);
});

test('a record that is read again unchanged is not verified again', async () => {
  await ask();
  clock += TRUST_MS;
  await ask();
  expect({ looked: looked.length, verified }).toEqual({ looked: 2, verified: 1 });
});

test('a revocation takes effect once the record is read again', async () => {
  await ask();
  change({ status: 'revoked' });
  clock += TRUST_MS - 1;
  expect(await ask()).not.toBeNull();
  clock += 1;
  expect(await ask()).toBeNull();
});

describe('while the database answers late', () => {
  let deliver: () => void;
  beforeEach(() => {
    delivered = new Promise((done) => (deliver = done));
  });

  test('a record is believed from the moment it was asked for', async () => {
    const early = ask();
    change({ status: 'revoked' });
    clock += TRUST_MS;
    deliver();
    expect(await early).not.toBeNull();
    expect(await ask()).toBeNull();
  });

  test('a revocation takes effect for who comes later', async () => {
    const early = ask();
    change({ status: 'revoked' });
    clock += TRUST_MS;
    const late = ask();
    deliver();
    expect([await early, await late]).toEqual([expect.anything(), null]);
  });

  test('what was asked for earlier and comes later does not replace what is known', async () => {
    const early = ask();
    delivered = Promise.resolve();
    change({ status: 'revoked' });
    clock += TRUST_MS - 1;
    expect(await ask(key.text, FROM, true)).toBeNull();
    deliver();
    await early;
    expect(await ask()).toBeNull();
  });
});

test('an expiry takes effect at its instant, whatever is kept', async () => {
  change({ expires_at: new Date(clock + 10) });
  expect(await ask()).not.toBeNull();
  clock += 9;
  expect(await ask()).not.toBeNull();
  clock += 1;
  expect(await ask()).toBeNull();
});

test('the right kid with another secret is nobody, also while the right one is kept', async () => {
  await ask();
  expect(await ask(`ak_sandbox_${key.kid}${'x'.repeat(43)}`)).toBeNull();
});

test('a key of the other environment is nobody, whatever its record says', async () => {
  const live = makeApiKey('live');
  records.set(live.kid, recordOf(live));
  expect(await ask(live.text)).toBeNull();
  change({ environment: 'live' });
  expect(await ask()).toBeNull();
});

test('a key is good only from where it is allowed', async () => {
  change({ allowed_ips: ['203.0.113.0/24'] });
  expect(await ask(key.text, FROM)).not.toBeNull();
  expect(await ask(key.text, '198.51.100.1')).toBeNull();
});

test('an unknown key is nobody, and is not remembered', async () => {
  records.delete(key.kid);
  expect(await ask()).toBeNull();
  records.set(key.kid, recordOf(key));
  expect(await ask()).not.toBeNull();
});

test('a changed hash is verified anew', async () => {
  await ask();
  clock += TRUST_MS;
  change({ secret_hash: hashOf('another secret') });
  expect(await ask()).toBeNull();
});

test.each<KeyAlgorithm>(['SCRYPT', 'ARGON2ID'])(
  'a %s record is not derived for an address to be spared, unless it was lately',
  async (alg) => {
    records.set(key.kid, recordOf(key, alg));
    expect(await ask(key.text, FROM, true)).toBeNull();
    expect(await ask()).not.toBeNull();
    clock += TRUST_MS;
    expect(await ask(key.text, FROM, true)).not.toBeNull();
  },
);

test('an outage is not a refusal', async () => {
  const broken = createAuthenticator({
    environment: 'sandbox',
    verify: async () => true,
    find: () => Promise.reject(new Error('away')),
    onUse: () => {},
    now: () => new Date(clock),
  });
  await expect(broken.authenticate(key.text, FROM)).rejects.toThrow('away');
});
