import { fileURLToPath } from 'node:url';
import { migrate, type Pool } from '@cpg/postgres';

const GATEWAY = { schema: 'gateway', folder: fileURLToPath(new URL('../migrations', import.meta.url)) };

/** Applies the pending migrations of the schema `gateway`. */
export const migrateGateway = (pool: Pool): Promise<void> => migrate(pool, GATEWAY);
