import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type PostgresServer, startPostgres } from '@cpg/embedded-postgres';
import { freePort } from '@cpg/ports';
import { cacheFolder, hashOf, moveTo, seedFilesOf, type ShopName, SHOPS } from './installed.ts';
import { makeShopFolder } from './shop-folder.ts';
import { shopEnvironment } from './shop-process.ts';

/** The programs that fill an empty database, one after the other. */
const SEEDING: Record<ShopName, readonly (readonly string[])[]> = {
  medusa: [
    ['node_modules/@medusajs/cli/cli.js', 'db:migrate'],
    ['node_modules/@medusajs/cli/cli.js', 'exec', './seed.js'],
    ['node_modules/@medusajs/cli/cli.js', 'user', '-e', 'staff@shop.example', '-p', 'staff-of-the-shop'],
  ],
  vendure: [['seed.js']],
};
const PASSWORD = 'of-the-shops';

/** The database of a filled shop, which each test copies. */
export const templateOf = (shop: ShopName): string => `${shop}_seeded`;

export interface ShopServer {
  readonly postgres: PostgresServer;
  /** What each seed wrote for the tests. */
  readonly seeded: Record<ShopName, unknown>;
  /** Stops PostgreSQL and removes its data. */
  readonly stop: () => Promise<void>;
}

/** Starts a PostgreSQL server with a filled database of each shop. Filling them takes most of a minute, so the data
 *  folder is kept in the cache, and each run works on a copy. */
export const startShopServer = async (): Promise<ShopServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-shops-'));
  const kept = join(cacheFolder(), `data-${hashOf(SHOPS.flatMap(seedFilesOf))}`);
  if (!existsSync(kept)) await makeSeededData(kept);
  // cp keeps the owner, which is the account of PostgreSQL where root runs the tests.
  await promisify(execFile)('cp', ['-a', `${kept}/.`, folder]);
  const postgres = await startOn(folder);
  const seeded = Object.fromEntries(
    SHOPS.map((shop) => [shop, JSON.parse(readFileSync(join(folder, `${shop}.json`), 'utf8')) as unknown]),
  ) as ShopServer['seeded'];
  const stop = async () => {
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { postgres, seeded, stop };
};

const startOn = async (folder: string): Promise<PostgresServer> =>
  startPostgres({ dataDir: join(folder, 'postgres'), port: await freePort(), password: PASSWORD });

const makeSeededData = async (target: string): Promise<void> => {
  mkdirSync(cacheFolder(), { recursive: true });
  const folder = mkdtempSync(join(cacheFolder(), 'unfinished-'));
  try {
    const postgres = await startOn(folder);
    try {
      await Promise.all(SHOPS.map((shop) => seed(shop, postgres, join(folder, `${shop}.json`))));
    } finally {
      await postgres.stop();
    }
    moveTo(folder, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const seed = async (shop: ShopName, postgres: PostgresServer, seededFile: string): Promise<void> => {
  await postgres.createDatabase(templateOf(shop));
  const folder = makeShopFolder(shop);
  const env = {
    ...shopEnvironment(),
    DATABASE_URL: postgres.url(templateOf(shop)),
    SEEDED_FILE: seededFile,
    PORT: String(await freePort()),
  };
  try {
    for (const args of SEEDING[shop]) await promisify(execFile)(process.execPath, args, { cwd: folder, env });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`the ${shop} shop could not be filled:\n${stdout}\n${stderr}`, { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
