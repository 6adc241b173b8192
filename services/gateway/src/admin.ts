import { createPool } from '@cpg/postgres';
import { ConfigError, createLogger } from '@cpg/runtime';
import { runCommand, USAGE } from './admin/command-line.ts';
import { AdminFault } from './admin/fault.ts';
import { runWebhooks } from './admin/webhooks.ts';
import { readAdminConfig, readEnvironment } from './config.ts';
import { keyEnvironmentOf } from './keys/api-key.ts';
import { migrateGateway } from './migrations.ts';

const run = async (args: readonly string[]): Promise<string> => {
  if (args.length === 0 || args.includes('--help')) return USAGE;
  if (args[0] === 'webhooks') {
    const environment = readEnvironment(process.env);
    return runWebhooks(args.slice(1), { environment, print, signal: interrupted() });
  }
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

const print = (text: string) => void process.stdout.write(`${text}\n`);

/** Aborts at Ctrl-C, or when this process is asked to end. */
const interrupted = (): AbortSignal => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
  return stopping.signal;
};

try {
  print(await run(process.argv.slice(2)));
} catch (error) {
  const expected = error instanceof AdminFault || error instanceof ConfigError;
  process.stderr.write(`${expected ? error.message : `that failed: ${(error as Error).message || error}`}\n`);
  process.exitCode = 1;
}
