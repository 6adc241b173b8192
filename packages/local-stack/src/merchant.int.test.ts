import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool, type Pool, testDatabase } from '@cpg/postgres';
import { writeSandbox } from './data/sandbox.ts';
import { demoMerchant } from './merchant.ts';

const GIVEN = `ak_sandbox_${'K'.repeat(40)}`;

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
  const merchant = await demoMerchant(folder, { databaseUrl: database.url, pepper, apiKey });
  writeSandbox(folder, {
    base_url: 'http://127.0.0.1:4000',
    merchant_id: merchant.merchantId,
    api_key: merchant.apiKey,
  });
  return merchant;
};
const ends = {
  'was revoked': "status = 'revoked', revoked_at = now()",
  'has expired': 'expires_at = now()',
};
const end = (how: string) => pool.query(`update gateway.api_keys set ${how}`);
const usable = async () => {
  const { rows } = await pool.query<{ kid: string }>(
    "select kid from gateway.api_keys where status = 'active' and (expires_at is null or expires_at > now())",
  );
  return rows.map(({ kid }) => kid);
};

test('the key of the last start is that of the next', async () => {
  const first = await start();
  expect(await start()).toEqual(first);
});

test.each(Object.entries(ends))('when it %s there is a new one, that works', async (_, how) => {
  const first = await start();
  await end(how);
  const next = await start();
  expect(next.merchantId).toBe(first.merchantId);
  expect(next.apiKey).not.toBe(first.apiKey);
  expect(await usable()).toEqual([next.apiKey.slice('ak_sandbox_'.length).slice(0, 12)]);
  expect(await start()).toEqual(next);
});

test.each(Object.entries(ends))('one that was asked for and %s is refused by name', async (_, how) => {
  await start(GIVEN);
  await end(how);
  await expect(start(GIVEN)).rejects.toThrow(/SANDBOX_API_KEY was revoked or has expired/);
  expect(await usable()).toEqual([]);
});
