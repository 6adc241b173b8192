import type { Pool } from '@cpg/platform/postgres';
import { type TestAdmin, startAdmin } from '../../testing/jest-admin.ts';
import { rolledBack } from '../../testing/jest-rolled-back.ts';
import {
  countHashes,
  credentialByKid,
  credentialsByKids,
  credentialsOf,
  issueKey,
  replaceHash,
  replaceSecret,
  retireCredential,
  revokeCredential,
  updateLastUsed,
} from './credentials.ts';
import { type KeyAlgorithm, pepperId } from './hash.ts';

let admin: TestAdmin;
let merchantId: string;
beforeAll(async () => {
  admin = await startAdmin();
  merchantId = (await admin.createMerchant()).id;
});
afterAll(() => admin.close());

const AT = new Date('2026-01-31T12:00:00.000Z');
const later = (seconds: number) => new Date(AT.getTime() + seconds * 1_000);
const PEPPER = 'pepper';

/** Runs `work` with keys by their kids. Nothing of it stays. */
const withKeys = (kids: readonly string[], work: (db: Pool) => Promise<void>, expiresAt: Date | null = null) =>
  rolledBack(admin.pool, async (db) => {
    for (const kid of kids) await issue(db, kid, expiresAt);
    await work(db);
  });
const issue = (db: Pool, kid: string, expiresAt: Date | null = null, alg?: KeyAlgorithm) =>
  issueKey(
    db,
    { merchantId, scopes: ['orders:self:read'], environment: 'live', expiresAt },
    {
      pepper: PEPPER,
      at: AT,
      key: { text: 'ak_live_1234', environment: 'live', kid, secret: 'secret' },
      ...(alg && { alg }),
    },
  );
const rowsOf = async (db: Pool) => new Map((await credentialsOf(db, merchantId)).map((row) => [row.kid, row]));

test('a new key has its merchant, its limits and no secret', () =>
  withKeys(['a', 'b'], async (db) => {
    expect(await credentialByKid(db, 'a')).toEqual({
      ...{ id: expect.stringMatching(/^key_/), merchant_id: merchantId, kid: 'a', status: 'active' },
      ...{ scopes: ['orders:self:read'], secret_hash: expect.any(String), salt: expect.any(String) },
      ...{ alg: 'HMAC-SHA256', pepper_id: pepperId(PEPPER), last4: '1234', version: 1, environment: 'live' },
      ...{
        allowed_ips: [],
        created_at: AT,
        expires_at: null,
        updated_at: null,
        last_used_at: null,
        last_used_from: null,
      },
      ...{
        rotated_at: null,
        revoked_at: null,
        label: null,
        merchant_disabled_at: null,
        payment_methods: expect.any(Array),
      },
    });
    expect((await credentialsByKids(db, ['b', 'unknown'])).map(({ kid }) => kid)).toEqual(['b']);
    expect(await credentialByKid(db, 'unknown')).toBeNull();
  }));

test('keys of a merchant are listed from the oldest', () =>
  withKeys(['a', 'b', 'c'], async (db) => {
    for (const [kid, seconds] of Object.entries({ a: 1, b: 3, c: 2 }))
      await db.query('update gateway.api_keys set created_at = $2 where kid = $1', [kid, later(seconds)]);
    expect([...(await rowsOf(db)).keys()]).toEqual(['a', 'c', 'b']);
  }));

test.each([
  ['never expires', null, later(5)],
  ['expires later', later(9), later(5)],
  ['expires before', later(2), later(2)],
])('a rotated key that %s ends with the overlap or before', (_, expiresAt, ends) =>
  withKeys(
    ['a'],
    async (db) => {
      await retireCredential(db, 'a', AT, later(5));
      expect((await rowsOf(db)).get('a')).toMatchObject({ rotated_at: AT, updated_at: AT, expires_at: ends });
    },
    expiresAt,
  ),
);

test('a key is revoked once', () =>
  withKeys(['a'], async (db) => {
    const revoke = (seconds: number) => revokeCredential(db, 'a', later(seconds));
    expect([await revoke(0), await revoke(5)]).toEqual([true, false]);
    expect((await rowsOf(db)).get('a')).toMatchObject({ status: 'revoked', revoked_at: AT, updated_at: AT });
  }));

test('a replaced secret takes all that its verification needs', () =>
  withKeys(['a'], async (db) => {
    const fresh = { alg: 'SCRYPT', salt: 'salt', secret_hash: 'hash', pepper_id: null, last4: '9876' } as const;
    await replaceSecret(db, 'a', fresh, AT);
    expect((await rowsOf(db)).get('a')).toMatchObject({ ...fresh, updated_at: AT });
  }));

test.each<[string, object, boolean]>([
  ['as it was', {}, true],
  ['another one', { secret_hash: 'other' }, false],
  ['of another algorithm', { alg: 'SCRYPT' }, false],
])('a hash that is %s meanwhile is replaced: %s', (_, more, isReplaced) =>
  withKeys(['a'], async (db) => {
    const stored = (await credentialByKid(db, 'a'))!;
    const fresh = { salt: 'salt', secret_hash: 'hash', pepper_id: 'pepper', ...{ alg: stored.alg, ...more } };
    const old = { ...stored, ...more };
    await replaceHash(db, 'a', old, fresh);
    const { salt, secret_hash, pepper_id } = isReplaced ? fresh : stored;
    expect((await rowsOf(db)).get('a')).toMatchObject({ salt, secret_hash, pepper_id });
  }),
);

test('counts the hashes of active keys that need a pepper', () =>
  withKeys([], async (db) => {
    await issue(db, 'current');
    await issue(db, 'expires later', new Date('2100-01-01'));
    for (const kid of ['old', 'unknown']) {
      await issue(db, kid);
      await db.query('update gateway.api_keys set pepper_id = $2 where kid = $1', [kid, kid === 'old' ? kid : null]);
    }
    await issue(db, 'expires now');
    await db.query("update gateway.api_keys set expires_at = now() where kid = 'expires now'");
    await issue(db, 'revoked');
    await revokeCredential(db, 'revoked', AT);
    await issue(db, 'without pepper', null, 'SCRYPT');
    expect(await countHashes(db, pepperId(PEPPER))).toEqual({ all: 4, outdated: 2 });
  }));

test('the last use of a key moves forward alone, and a use of an unknown key is ignored', () =>
  withKeys(['a', 'b', 'c'], async (db) => {
    const used = async () =>
      [...(await rowsOf(db)).values()].map((row) => [row.kid, row.last_used_at, row.last_used_from]).sort();
    const use = (seconds: number) => ({ at: later(seconds), address: `203.0.113.${seconds}` });
    await updateLastUsed(
      db,
      new Map([
        ['a', use(5)],
        ['b', use(5)],
        ['unknown', use(0)],
      ]),
    );
    await updateLastUsed(
      db,
      new Map([
        ['a', use(9)],
        ['b', use(2)],
      ]),
    );
    expect(await used()).toEqual([
      ['a', later(9), '203.0.113.9'],
      ['b', later(5), '203.0.113.5'],
      ['c', null, null],
    ]);
  }));
