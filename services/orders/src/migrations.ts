import { join } from 'node:path';
import type { Migrations } from '@cpg/platform/postgres';

export const MIGRATIONS: Migrations = { schema: 'orders', folder: join(import.meta.dirname, '../migrations') };
