import type { Config } from './config.ts';
import type { Secrets } from './data/secrets.ts';
import type { PortPlan } from './ports.ts';

/** Where everything is, once it runs. */
export interface StackAddresses {
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly eventstoreUrl: string;
  readonly kafkaBrokers: string;
  readonly databaseUrl: string;
}

/** Addresses of what this launcher starts, and in place of an engine those that it was given. */
export const addressesOf = (
  config: Config,
  ports: readonly PortPlan[],
  secrets: Secrets,
  dataDir: string,
): StackAddresses => ({
  dataDir,
  baseUrl: httpAddress(ports, 'gateway'),
  eventstoreUrl: config.EVENTSTORE_URL ?? `esdb://127.0.0.1:${viaOf(ports, 'eventstore')}?tls=false`,
  kafkaBrokers: config.KAFKA_BROKERS ?? `127.0.0.1:${viaOf(ports, 'kafka')}`,
  databaseUrl: config.DATABASE_URL ?? ownDatabase(ports, secrets, 'app'),
});

/** A database of the embedded PostgreSQL. */
export const ownDatabase = (ports: readonly PortPlan[], { POSTGRES_PASSWORD }: Secrets, name: string): string =>
  `postgres://postgres:${POSTGRES_PASSWORD}@127.0.0.1:${viaOf(ports, 'postgres')}/${name}`;

/** What every service finds in its environment, over that of the caller. */
export const serviceEnvironment = (
  { eventstoreUrl, kafkaBrokers, databaseUrl, baseUrl }: StackAddresses,
  ports: readonly PortPlan[],
  { API_KEY_PEPPER, WEBHOOK_ENCRYPTION_KEY, INTERNAL_TOKEN }: Secrets,
  env: NodeJS.ProcessEnv,
) => ({
  ENVIRONMENT: 'sandbox',
  EVENTSTORE_URL: eventstoreUrl,
  KAFKA_BROKERS: kafkaBrokers,
  DATABASE_URL: databaseUrl,
  ORDERS_URL: httpAddress(ports, 'orders'),
  PAYMENTS_URL: httpAddress(ports, 'payments'),
  WEBHOOK_DISPATCHER_URL: httpAddress(ports, 'webhook-dispatcher-1'),
  PUBLIC_URL: env.PUBLIC_URL || baseUrl,
  API_KEY_PEPPER: env.API_KEY_PEPPER || API_KEY_PEPPER,
  WEBHOOK_ENCRYPTION_KEY: env.WEBHOOK_ENCRYPTION_KEY || WEBHOOK_ENCRYPTION_KEY,
  INTERNAL_TOKEN: env.INTERNAL_TOKEN || INTERNAL_TOKEN,
  WEBHOOK_ALLOW_LOCAL: env.WEBHOOK_ALLOW_LOCAL || 'true',
});

/** How a process of the stack is called from this machine. */
export const httpAddress = (ports: readonly PortPlan[], process: string): string => {
  const { host, via } = planOf(ports, process);
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${via}`;
};

const viaOf = (ports: readonly PortPlan[], process: string): number => planOf(ports, process).via;

const planOf = (ports: readonly PortPlan[], process: string): PortPlan => {
  const plan = ports.find((candidate) => candidate.process === process);
  if (!plan) throw new Error(`no port was planned for ${process}`);
  return plan;
};
