import { createPool } from '@cpg/postgres';
import { ConfigError, createLogger } from '@cpg/runtime';
import { runCommand, USAGE } from './admin/command-line.ts';
import { AdminFault } from './admin/fault.ts';
import { readAdminConfig } from './config.ts';
import { keyEnvironmentOf } from './keys/api-key.ts';
import { migrateGateway } from './migrations.ts';

const run = async (args: readonly string[]): Promise<string> => {
  if (args.length === 0 || args.includes('--help')) return USAGE;
  const config = readAdminConfig(process.env);
  const log = createLogger({ name: 'gateway-admin', level: 'warn' });
  const pool = createPool({ url: config.DATABASE_URL, name: 'gateway-admin', max: 1, log });
  try {
    await migrateGateway(pool);
    return await runCommand(args, {
      pool,
      pepper: config.API_KEY_PEPPER,
      environment: keyEnvironmentOf(config.ENVIRONMENT),
      now: () => new Date(),
    });
  } finally {
    await pool.end();
  }
};

try {
  process.stdout.write(`${await run(process.argv.slice(2))}\n`);
} catch (error) {
  const expected = error instanceof AdminFault || error instanceof ConfigError;
  process.stderr.write(`${expected ? error.message : `that failed: ${(error as Error).message || error}`}\n`);
  process.exitCode = 1;
}
