import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startPostgres } from './server.ts';

test('the shared server accepts connections and commits durably', async () => {
  const client = new pg.Client({ connectionString: process.env.POSTGRES_URL });
  await client.connect();
  const settings = await client.query('select name, setting from pg_settings where name in ($1, $2)', [
    'fsync',
    'synchronous_commit',
  ]);
  expect(settings.rows.map((row) => row.setting)).toEqual(['on', 'on']);
  await client.end();
});

test('initialises the data folder again after a killed initialisation', async () => {
  const base = mkdtempSync(join(tmpdir(), 'embedded-postgres-'));
  const dataDir = join(base, 'postgres');
  mkdirSync(`${dataDir}.new/base`, { recursive: true });
  writeFileSync(`${dataDir}.new/PG_VERSION`, '18\n');
  const server = await startPostgres({ dataDir, port: await freePort(), password: 'secret' });
  const client = new pg.Client({ connectionString: server.url('postgres') });
  await client.connect();
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await client.end();
  await server.stop();
  expect(readdirSync(base)).toEqual(['postgres']);
  rmSync(base, { recursive: true });
});

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
};
