import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../../harness/stack.ts';
import { startShopServer } from './databases.ts';
import { STACK_ENV } from './gateway.ts';
import { unpackPlugins } from './plugins.ts';

/** Starts what all tests of shops share: a stack with a chain, and a PostgreSQL server with filled shops. */
export default async (): Promise<void> => {
  const plugins = mkdtempSync(join(tmpdir(), 'cpg-plugins-'));
  unpackPlugins(plugins);
  const [server, stack] = await Promise.all([startShopServer(), startStack({ env: STACK_ENV })]);
  process.env.ACCEPTANCE_DATA_DIR = stack.dataDir;
  process.env.SHOPS_SETUP = JSON.stringify({
    plugins,
    seeded: server.seeded,
    postgresUrl: server.postgres.url('postgres'),
  });
  (globalThis as { stopShops?: () => Promise<void> }).stopShops = async () => {
    await Promise.all([server.stop(), stack.stop()]);
    rmSync(plugins, { recursive: true, force: true });
  };
};
