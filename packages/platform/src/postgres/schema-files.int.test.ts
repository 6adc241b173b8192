import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../log/logger.ts';
import { migrate } from './migrate.ts';
import { createPool, type Pool } from './pool.ts';
import { testDatabase } from './testing/database.ts';
import { dumpSchema } from './testing/jest-schema-dump.ts';

const SERVICES = join(import.meta.dirname, '../../../../services');
const log = createLogger({ name: 'test', level: 'silent' });
let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;

beforeAll(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'schema-files', max: 1, log });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

test.each([
  ['gateway', 'gateway'],
  ['orders', 'orders'],
  ['payments', 'payments'],
  ['webhook-dispatcher', 'webhooks'],
])('schema.sql of %s is what its migrations make (else: pnpm schema)', async (service, schema) => {
  await migrate(pool, { schema, folder: join(SERVICES, service, 'migrations') });
  const file = join(SERVICES, service, 'schema.sql');
  const dump = `-- What the migrations of ${service} make. "pnpm schema" writes this file: do not edit it.\n\n${await dumpSchema(pool, schema)}`;
  if (process.env.WRITE_SCHEMAS) writeFileSync(file, dump);
  expect(readFileSync(file, 'utf8')).toBe(dump);
});
