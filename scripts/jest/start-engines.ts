import { appendFileSync, existsSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as EmbeddedPostgres from '../../packages/engines/embedded-postgres/src/index.ts';
import type * as Ports from '../../packages/tools/ports/src/ports.ts';
import { importBuilt } from '../setup.mjs';

/** Starts the PostgreSQL server that all integration tests share. Each test file creates its own database on it,
 *  through POSTGRES_URL. */
export default async () => {
  // By path: with a dependency of the root on a package, turbo builds everything after a change of that package.
  const { startPostgres }: typeof EmbeddedPostgres = await importBuilt(
    'packages/engines/embedded-postgres/dist/index.js',
  );
  const { freePort }: typeof Ports = await importBuilt('packages/tools/ports/dist/ports.js');
  const dataDir = mkdtempSync(join(baseFolder(), 'cpg-test-'));
  const cluster = join(dataDir, 'postgres');
  const postgres = await startPostgres({
    dataDir: cluster,
    port: await freePort(),
    password: 'test',
  });
  // The run ends with its data, and deleting a database would wait for the disk.
  appendFileSync(join(cluster, 'postgresql.auto.conf'), 'fsync = off\n');
  postgres.process.kill('SIGHUP');
  process.env.POSTGRES_URL = postgres.url('postgres');
  (globalThis as Record<string, unknown>).engines = { postgres, dataDir };
};

const SHARED_MEMORY = '/dev/shm';
const ROOM = 2 ** 31;

/** In memory where there is room. On a disk, the files of a new database can cost 200 ms of CPU. */
const baseFolder = (): string => {
  if (!existsSync(SHARED_MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(SHARED_MEMORY);
  return bavail * bsize >= ROOM ? SHARED_MEMORY : tmpdir();
};
