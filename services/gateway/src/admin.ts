import {
  ConfigError,
  createLogger,
  FatalStartError,
  internalClient,
  secretBox,
  wallClock,
  writeFailure,
  writeLine,
} from '@cpg/platform';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { runAudit } from './admin/audit.ts';
import { runCommand, USAGE } from './admin/command-line.ts';
import { AdminError } from './admin/command.ts';
import { runDepositSettingsCommand } from './admin/deposit-commands.ts';
import { runSecretsCommand } from './admin/secrets.ts';
import { runWebhooksCommand } from './admin/webhooks.ts';
import { createHistoryReader } from './api/orders/order-history.ts';
import { ordersClient } from './api/orders/orders-client.ts';
import { paymentsClient } from './api/payments/payments-client.ts';
import {
  type AdminConfig,
  readAdminConfig,
  readAuditConfig,
  readDepositSettingsConfig,
  readEnvironment,
  readSecretsConfig,
} from './config.ts';
import { keyEnvironmentOf } from './door/keys/api-key.ts';
import { migrateGateway } from './migrations.ts';

const run = async (args: readonly string[]): Promise<void> => {
  if (args.length === 0 || args.includes('--help')) return print(USAGE);
  if (args[0] === 'webhooks') {
    const environment = readEnvironment(process.env);
    return print(await runWebhooksCommand(args.slice(1), { environment, print, signal: stopSignal() }));
  }
  if (args[0] === 'audit') return audit(args.slice(1));
  if (args[0] === 'secrets') return secrets(args.slice(1));
  if (['accounts', 'confirmations', 'tolerance'].includes(args[0]!)) return depositSettings(args);
  const config = readAdminConfig(process.env);
  return withDatabase(config, (pool) =>
    runCommand(args, {
      pool,
      pepper: config.API_KEY_PEPPER[0]!,
      environment: keyEnvironmentOf(config.ENVIRONMENT),
      now: wallClock,
    }),
  );
};

const secrets = (args: readonly string[]): Promise<void> => {
  const config = readSecretsConfig(process.env);
  return withDatabase(config, (pool) => {
    const box = secretBox(config.WEBHOOK_ENCRYPTION_KEY);
    return runSecretsCommand(args, { pool, box, pepper: config.API_KEY_PEPPER[0]! });
  });
};

const depositSettings = (args: readonly string[]): Promise<void> => {
  const config = readDepositSettingsConfig(process.env);
  return withDatabase(config, async (db) => {
    const payments = internalClient({
      name: 'payments',
      url: config.PAYMENTS_URL,
      tokens: config.ADMIN_TO_PAYMENTS_TOKEN,
    });
    try {
      return await runDepositSettingsCommand(args, { db, payments: paymentsClient(payments), stdin: process.stdin });
    } finally {
      await payments.close();
    }
  });
};

/** Prints the output of a command that needs the schema `gateway`. */
const withDatabase = async (
  { DATABASE_URL, ENVIRONMENT }: Pick<AdminConfig, 'DATABASE_URL' | 'ENVIRONMENT'>,
  command: (pool: Pool) => Promise<string>,
): Promise<void> => {
  const log = createLogger({ name: 'gateway-admin', level: 'warn' });
  const pool = createPool({ url: DATABASE_URL, name: 'gateway-admin', max: 1, log });
  try {
    await migrateGateway(pool, ENVIRONMENT);
    print(await command(pool));
  } finally {
    await pool.end();
  }
};

const audit = async (args: readonly string[]): Promise<void> => {
  const config = readAuditConfig(process.env);
  const orders = internalClient({ name: 'orders', url: config.ORDERS_URL, tokens: config.ADMIN_TO_ORDERS_TOKEN });
  const payments = internalClient({
    name: 'payments',
    url: config.PAYMENTS_URL,
    tokens: config.ADMIN_TO_PAYMENTS_TOKEN,
  });
  const clients = { orders: ordersClient(orders), payments: paymentsClient(payments) };
  try {
    await runAudit(args, { orders: clients.orders, readHistory: createHistoryReader(clients), print: writeLine });
  } finally {
    await Promise.all([orders.close(), payments.close()]);
  }
};

const print = (text: string) => void writeLine(text);

/** A signal that aborts on Ctrl-C or when the process is asked to stop. */
const stopSignal = (): AbortSignal => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
  return stopping.signal;
};

try {
  await run(process.argv.slice(2));
} catch (error) {
  const expected = error instanceof AdminError || error instanceof ConfigError || error instanceof FatalStartError;
  writeFailure(error, expected);
  process.exitCode = 1;
}
