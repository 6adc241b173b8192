import { fileURLToPath } from 'node:url';
import { type Environment, type Pool, prepareSchema } from '@cpg/platform/postgres';

export const MIGRATIONS = { schema: 'gateway', folder: fileURLToPath(new URL('../migrations', import.meta.url)) };

/** Applies the pending migrations of the schema `gateway`. Throws WrongEnvironmentError, and changes nothing, when the
 *  schema belongs to another environment. */
export const migrateGateway = (pool: Pool, environment: Environment): Promise<void> =>
  prepareSchema(pool, { ...MIGRATIONS, environment });
