import { runMigrateCommand } from '@cpg/postgres';
import { GATEWAY } from './migrations.ts';

process.exitCode = await runMigrateCommand(GATEWAY, process.env);
