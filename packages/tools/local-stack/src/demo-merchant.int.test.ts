import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { ensureDemoMerchant, writeSandbox } from './demo-merchant.ts';

const REQUESTED_KEY = `ak_sandbox_${'K'.repeat(40)}`;

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let folder: string;
beforeEach(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'test', max: 1, log: { warn: () => {} } as never });
  folder = mkdtempSync(join(tmpdir(), 'launcher-'));
});
afterEach(async () => {
  await pool.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});

const start = async (apiKey?: string) => {
  const pepper = 'pepper of the tests, thirty-two characters';
  const merchant = await ensureDemoMerchant(folder, { databaseUrl: database.url, pepper, apiKey });
  writeSandbox(folder, {
    base_url: 'http://127.0.0.1:4000',
    merchant_id: merchant.merchantId,
    api_key: merchant.apiKey,
  });
  return merchant;
};
const INVALIDATIONS = {
  'was revoked': "status = 'revoked', revoked_at = now()",
  'has expired': 'expires_at = now()',
};
const invalidateKeys = (how: string) => pool.query(`update gateway.api_keys set ${how}`);
const validKeyIds = async () => {
  const { rows } = await pool.query<{ kid: string }>(
    "select kid from gateway.api_keys where status = 'active' and (expires_at is null or expires_at > now())",
  );
  return rows.map(({ kid }) => kid);
};

test('keeps the key of the last start', async () => {
  const first = await start();
  expect(await start()).toEqual({ ...first, signInPath: expect.any(String) });
});

test.each(Object.entries(INVALIDATIONS))('creates a new key when the old one %s', async (_, how) => {
  const first = await start();
  await invalidateKeys(how);
  const next = await start();
  expect(next.merchantId).toBe(first.merchantId);
  expect(next.apiKey).not.toBe(first.apiKey);
  expect(await validKeyIds()).toEqual([next.apiKey.slice('ak_sandbox_'.length).slice(0, 12)]);
  expect(await start()).toEqual({ ...next, signInPath: expect.any(String) });
});

test.each(Object.entries(INVALIDATIONS))('rejects a requested key that %s', async (_, how) => {
  await start(REQUESTED_KEY);
  await invalidateKeys(how);
  await expect(start(REQUESTED_KEY)).rejects.toThrow(/SANDBOX_API_KEY was revoked or has expired/);
  expect(await validKeyIds()).toEqual([]);
});
