import { createLogger, internalClient, secretBox, wallClock, whenNpmEnds, writeLine } from '@cpg/platform';
import { adminProgram, type Outcome, runAdminProgram, type RunWith } from '@cpg/platform/commands';
import { createPool, type Pool } from '@cpg/platform/postgres';
import { addClockCommands } from './admin/clock.ts';
import { addDepositSettingsCommands, type DepositSettingsAdmin } from './admin/deposit-commands.ts';
import { addKeyCommands } from './admin/key-commands.ts';
import type { KeyAdmin } from './admin/keys.ts';
import { addMerchantCommands } from './admin/merchant-commands.ts';
import { addOrderCommands, type OrderAudit } from './admin/order-commands.ts';
import { addSecretsCommands, type SecretsAdmin } from './admin/secrets.ts';
import { addUserCommands } from './admin/user-commands.ts';
import { addWebhooksCommands, type SandboxWebhooks } from './admin/webhooks.ts';
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

const { env } = process;

/** Loans the database of the schema `gateway`. */
const withDatabase = async (
  { DATABASE_URL, ENVIRONMENT }: Pick<AdminConfig, 'DATABASE_URL' | 'ENVIRONMENT'>,
  work: (pool: Pool) => Promise<Outcome>,
): Promise<Outcome> => {
  const log = createLogger({ name: 'gateway-admin', level: 'warn' });
  const pool = createPool({ url: DATABASE_URL, name: 'gateway-admin', max: 1, log });
  try {
    await migrateGateway(pool, ENVIRONMENT);
    return await work(pool);
  } finally {
    await pool.end();
  }
};

const withAdmin: RunWith<KeyAdmin> = async (work) => {
  const config = readAdminConfig(env);
  const environment = keyEnvironmentOf(config.ENVIRONMENT);
  const pepper = config.API_KEY_PEPPER[0]!;
  return withDatabase(config, (pool) => work({ pool, pepper, environment, now: wallClock }));
};

const withSecrets: RunWith<SecretsAdmin> = async (work) => {
  const config = readSecretsConfig(env);
  const box = secretBox(config.WEBHOOK_ENCRYPTION_KEY);
  return withDatabase(config, (pool) =>
    work({
      pool,
      box,
      pepper: config.API_KEY_PEPPER[0]!,
      auditLogKey: config.AUDIT_LOG_KEY?.verifierKey ?? null,
    }),
  );
};

const withDepositSettings: RunWith<DepositSettingsAdmin> = async (work) => {
  const config = readDepositSettingsConfig(env);
  return withDatabase(config, async (db) => {
    const payments = internalClient({
      name: 'payments',
      url: config.PAYMENTS_URL,
      tokens: config.ADMIN_TO_PAYMENTS_TOKEN,
    });
    try {
      return await work({ db, payments: paymentsClient(payments), stdin: process.stdin });
    } finally {
      await payments.close();
    }
  });
};

const withAudit: RunWith<OrderAudit> = async (work) => {
  const config = readAuditConfig(env);
  const orders = internalClient({ name: 'orders', url: config.ORDERS_URL, tokens: config.ADMIN_TO_ORDERS_TOKEN });
  const payments = internalClient({
    name: 'payments',
    url: config.PAYMENTS_URL,
    tokens: config.ADMIN_TO_PAYMENTS_TOKEN,
  });
  const clients = { orders: ordersClient(orders), payments: paymentsClient(payments) };
  try {
    return await work({ orders: clients.orders, readHistory: createHistoryReader(clients), print: writeLine });
  } finally {
    await Promise.all([orders.close(), payments.close()]);
  }
};

const withSandbox: RunWith<SandboxWebhooks> = async (work) => {
  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort());
  whenNpmEnds(() => stopping.abort());
  const print = (text: string) => void writeLine(text);
  return work({ environment: readEnvironment(env), print, signal: stopping.signal });
};

const program = adminProgram('Commands of operators on merchants, their users, keys and settings, and orders.');
addMerchantCommands(program, withAdmin);
addKeyCommands(program, withAdmin);
addUserCommands(program, withAdmin);
addDepositSettingsCommands(program, withDepositSettings);
addOrderCommands(program, withAudit);
addSecretsCommands(program, withSecrets);
addClockCommands(program, withAdmin);
addWebhooksCommands(program, withSandbox);
process.exitCode = await runAdminProgram(program, process.argv.slice(2));
