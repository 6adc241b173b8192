import { fileURLToPath } from 'node:url';
import { isDatabaseOutage, migrate, type Pool } from '@cpg/postgres';
import { type Logger, retry } from '@cpg/runtime';

const GATEWAY = { schema: 'gateway', folder: fileURLToPath(new URL('../migrations', import.meta.url)) };

/** Brings the schema `gateway` up to date. */
export const migrateGateway = (pool: Pool): Promise<void> => migrate(pool, GATEWAY);

/** The same, waiting for a database that is away. */
export const migrateWhenThere = (pool: Pool, log: Logger): Promise<void> =>
  retry(() => migrateGateway(pool), {
    onError: (error) => {
      if (!isDatabaseOutage(error)) throw error;
      log.warn({ err: error }, 'the database is not available yet');
    },
  });
