import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/platform';
import { startAdmin, type TestAdmin } from '../../testing/jest-admin.ts';
import { PEPPER } from '../../testing/jest-merchant.ts';
import { countHashes, credentialByKid, replaceHash } from './credentials.ts';
import { createKeyVerifier, pepperId } from './hash.ts';

const NEW = 'the new pepper of the tests';
const log = createLogger({ name: 'test', level: 'silent' });
let admin: TestAdmin;

beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());
afterEach(() => admin.reset());

const isValid = async ({ key, kid }: { key: string; kid: string }, peppers: string[]) => {
  const verify = createKeyVerifier({ peppers, replaceHash: (...hashes) => replaceHash(admin.pool, ...hashes), log });
  return verify(key.slice(`ak_live_${kid}`.length), (await credentialByKid(admin.pool, kid))!);
};

test('a key is hashed with the new pepper at its next use, and needs the old one no longer', async () => {
  const key = await admin.createKey();
  expect(await isValid(key, [NEW])).toBe(false);
  expect(await countHashes(admin.pool, pepperId(NEW))).toEqual({ all: 1, outdated: 1 });
  expect(await isValid(key, [NEW, PEPPER])).toBe(true);
  while ((await countHashes(admin.pool, pepperId(NEW))).outdated > 0) await sleep(5);
  expect(await isValid(key, [NEW])).toBe(true);
  expect(await isValid(key, [PEPPER])).toBe(false);
});

test('a key that was rotated or replaced meanwhile keeps its new hash', async () => {
  const { kid } = await admin.createKey();
  const stored = (await credentialByKid(admin.pool, kid))!;
  const other = { ...stored, secret_hash: 'of another secret' };
  await replaceHash(admin.pool, kid, other, { ...stored, secret_hash: 'lost' });
  expect((await credentialByKid(admin.pool, kid))!.secret_hash).toBe(stored.secret_hash);
});
