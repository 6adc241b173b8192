import { join } from 'node:path';
import { runMigrateCommand } from '@cpg/postgres';

const folder = join(import.meta.dirname, '../migrations');
process.exitCode = await runMigrateCommand({ schema: 'orders', folder }, process.env);
