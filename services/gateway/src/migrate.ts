import { runMigrateCommand } from '@cpg/postgres';
import { MIGRATIONS } from './migrations.ts';

process.exitCode = await runMigrateCommand(MIGRATIONS, process.env);
