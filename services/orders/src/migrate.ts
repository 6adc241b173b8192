import { runMigrateCommand } from '@cpg/platform/postgres';
import { MIGRATIONS } from './migrations.ts';

process.exitCode = await runMigrateCommand(MIGRATIONS, process.env);
