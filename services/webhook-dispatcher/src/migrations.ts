import { join } from 'node:path';
import type { Migrations } from '@cpg/platform/postgres';

export const MIGRATIONS: Migrations = { schema: 'webhooks', folder: join(import.meta.dirname, '../migrations') };
