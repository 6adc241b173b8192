import { testDatabase } from '@cpg/platform/postgres/testing';
import { freePort } from '@cpg/ports';
import { UnsupportedSchemaVersion, startKafka } from './index.ts';
import { execute } from './testing/database.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.drop());

const start = async (port?: number) => startKafka({ databaseUrl: database.url, port: port ?? (await freePort()) });

test.each([4, 99])('data of schema version %s is refused and not changed', async (version) => {
  await (await start()).stop();
  await execute(database.url, `update kafka.format set version = ${version}`);
  await expect(start()).rejects.toThrow(UnsupportedSchemaVersion);
  await expect(start()).rejects.toThrow(
    `schema version ${version}, but this broker supports version 5: run the release`,
  );
  await execute(database.url, 'update kafka.format set version = 5');
  await (await start()).stop();
});
