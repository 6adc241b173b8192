import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../log/logger.ts';
import { type Environment, stampSchemas, stampsOf, WrongEnvironmentError } from './environment.ts';
import { migrate, prepareSchema } from './migrate.ts';
import { createPool, type Pool } from './pool.ts';
import { testDatabase } from './testing/database.ts';

const log = createLogger({ name: 'test', level: 'silent' });
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
let folder: string;

beforeAll(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'test', log });
  folder = mkdtempSync(join(tmpdir(), 'environment-'));
  writeFileSync(join(folder, '001-keys.sql'), 'create table api_keys (environment text);');
});
afterAll(async () => {
  await pool.end();
  await database.drop();
  rmSync(folder, { recursive: true });
});
afterEach(() => pool.query('drop schema if exists gateway, orders cascade'));

const prepare = (schema: string, environment: Environment) => prepareSchema(pool, { schema, folder, environment });
const stampOf = async (schema: string) =>
  (await pool.query(`select environment from ${schema}.environment_stamp`)).rows;
const holdKeys = async (...environments: string[]) => {
  // As an earlier version left it: migrated, without a stamp.
  await migrate(pool, { schema: 'gateway', folder });
  for (const environment of environments) await pool.query('insert into gateway.api_keys values ($1)', [environment]);
};

test('a schema belongs to the environment of the first service that starts on it', async () => {
  await prepare('orders', 'production');
  await prepare('orders', 'production');
  expect(await stampOf('orders')).toEqual([{ environment: 'production' }]);
  await expect(prepare('orders', 'sandbox')).rejects.toThrow(
    'ENVIRONMENT is sandbox, but schema orders of the database at DATABASE_URL belongs to production: correct ENVIRONMENT or the address',
  );
});

test('a schema without a stamp takes none that differs from the other schemas of its database', async () => {
  await prepare('gateway', 'production');
  await expect(prepare('orders', 'sandbox')).rejects.toThrow(/schema gateway .* belongs to production/);
  await prepare('orders', 'production');
});

test('services of two environments that start together on an empty database cannot both stamp it', async () => {
  const results = await Promise.allSettled([prepare('gateway', 'sandbox'), prepare('orders', 'production')]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
});

test.each<[string, string[], Environment]>([
  ['live keys', ['live'], 'production'],
  ['live and sandbox keys', ['sandbox', 'live', 'sandbox'], 'production'],
  ['sandbox keys', ['sandbox'], 'sandbox'],
])('data of an earlier version with %s %j belongs to %s', async (_, keys, environment) => {
  await holdKeys(...keys);
  const other = environment === 'production' ? 'sandbox' : 'production';
  for (const schema of ['gateway', 'orders'])
    await expect(prepare(schema, other)).rejects.toBeInstanceOf(WrongEnvironmentError);
  await prepare('gateway', environment);
  await prepare('orders', environment);
});

test('data of an earlier version without API keys belongs to the first service that starts on it', async () => {
  await holdKeys();
  await prepare('gateway', 'production');
  expect(await stampOf('gateway')).toEqual([{ environment: 'production' }]);
});

test('a refused service changes nothing', async () => {
  await holdKeys('live');
  writeFileSync(join(folder, '002-more.sql'), 'create table more (id int);');
  await expect(prepare('gateway', 'sandbox')).rejects.toThrow(/live API keys/);
  rmSync(join(folder, '002-more.sql'));
  const { rows } = await pool.query(
    `select to_regclass('gateway.more') as more, to_regclass('gateway.environment_stamp') as stamp`,
  );
  expect(rows).toEqual([{ more: null, stamp: null }]);
});

test('the operator can stamp a database whose data shows another environment, but not change a stamp', async () => {
  await holdKeys('live');
  await stampSchemas(pool, 'sandbox');
  expect(await stampsOf(pool)).toEqual([{ schema: 'gateway', environment: 'sandbox' }]);
  await prepare('gateway', 'sandbox');
  await prepare('orders', 'sandbox');
  await expect(stampSchemas(pool, 'production')).rejects.toThrow(/schema gateway .* belongs to sandbox/);
});
