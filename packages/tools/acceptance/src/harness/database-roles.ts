import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { STANDARD_PORTS } from './ports.ts';

const PASSWORD = 'password-of-each-role';

/** The database role of each service. */
const ROLES = {
  gateway: 'cpg_gateway',
  orders: 'cpg_orders',
  payments: 'cpg_payments',
  'webhook-dispatcher': 'cpg_webhook_dispatcher',
} as const;

/** The variables that give each service of a stack its role. */
export const roleVariables = (portOffset: number): Record<string, string> =>
  Object.fromEntries(
    Object.entries(ROLES).map(([service, role]) => [
      `${service.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`,
      databaseAs(role, PASSWORD, portOffset),
    ]),
  );

const databaseAs = (user: string, password: string, portOffset: number) =>
  `postgres://${user}:${password}@127.0.0.1:${STANDARD_PORTS.postgres + portOffset}/app`;

/** Does what an operator does once: creates the roles, and runs "admin migrate". The services of the stack wait for it. */
export const prepareDatabase = async (dataDir: string, portOffset: number, signal: AbortSignal): Promise<void> => {
  const ownerUrl = () => {
    const { POSTGRES_PASSWORD } = JSON.parse(readFileSync(join(dataDir, 'secrets.json'), 'utf8')) as {
      POSTGRES_PASSWORD: string;
    };
    return databaseAs('postgres', POSTGRES_PASSWORD, portOffset);
  };
  for (;;) {
    signal.throwIfAborted();
    const owner = await Promise.resolve()
      .then(ownerUrl)
      .then(connect)
      .catch(() => null);
    if (owner) {
      const roles = Object.values(ROLES).map((role) => `create role ${role} login password '${PASSWORD}'`);
      await owner.query(roles.join('; ')).finally(() => owner.end());
      break;
    }
    await sleep(50);
  }
  for (const service of Object.keys(ROLES)) await migrate(service, ownerUrl());
};

const connect = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
};

const migrate = async (service: string, databaseUrl: string): Promise<void> => {
  const program = fileURLToPath(new URL(`../../../../../services/${service}/dist/migrate.js`, import.meta.url));
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, NODE_OPTIONS: '', ENVIRONMENT: 'sandbox', DATABASE_URL: databaseUrl },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [[code], output] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  if (code !== 0) throw new Error(`the migration of ${service} ended with code ${String(code)}: ${output}`);
};
