import { createHmac } from 'node:crypto';
import type { Config } from './config.ts';
import type { Secrets } from './data/secrets.ts';
import type { PortPlan } from './ports.ts';

/** Addresses of a running stack. */
export interface StackAddresses {
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly eventstoreUrl: string;
  readonly kafkaBrokers: string;
  readonly databaseUrl: string;
  /** JSON-RPC address of the EVM chain; absent if none runs. */
  readonly chainUrl?: string;
}

/** Addresses of the processes that the launcher starts, and of the external engines in `config`. */
export const stackAddresses = (
  config: Config,
  ports: readonly PortPlan[],
  secrets: Secrets,
  dataDir: string,
): StackAddresses => ({
  dataDir,
  baseUrl: httpAddress(ports, 'gateway'),
  eventstoreUrl: config.EVENTSTORE_URL ?? embeddedEventstoreUrl(ports, config.EVENTSTORE_DISCOVER),
  kafkaBrokers: config.KAFKA_BROKERS ?? `127.0.0.1:${viaOf(ports, 'kafka')}`,
  databaseUrl: config.DATABASE_URL ?? embeddedDatabaseUrl(ports, secrets, 'app'),
  ...(config.CHAIN === 'on' && { chainUrl: httpAddress(ports, 'chain') }),
});

const embeddedEventstoreUrl = (ports: readonly PortPlan[], discover: boolean): string =>
  `${discover ? 'esdb+discover' : 'esdb'}://127.0.0.1:${viaOf(ports, 'eventstore')}?tls=false`;

/** URL of a database of the embedded PostgreSQL. */
export const embeddedDatabaseUrl = (ports: readonly PortPlan[], { POSTGRES_PASSWORD }: Secrets, name: string): string =>
  `postgres://postgres:${POSTGRES_PASSWORD}@127.0.0.1:${viaOf(ports, 'postgres')}/${name}`;

/** The variables that the launcher sets for every service. They override the caller's environment. */
export const serviceEnvironment = (
  { eventstoreUrl, kafkaBrokers, databaseUrl, baseUrl }: StackAddresses,
  ports: readonly PortPlan[],
  { API_KEY_PEPPER, WEBHOOK_ENCRYPTION_KEY, AUDIT_LOG_KEY, INTERNAL_TOKEN }: Secrets,
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
  AUDIT_LOG_KEY: env.AUDIT_LOG_KEY || AUDIT_LOG_KEY,
  ...Object.fromEntries(TOKENS.map((name) => [name, env[name] || derivedToken(INTERNAL_TOKEN, name)])),
  WEBHOOK_ALLOW_LOCAL: env.WEBHOOK_ALLOW_LOCAL || 'true',
});

/** One for each caller and service, and one for reading metrics. */
const TOKENS = [
  'GATEWAY_TO_ORDERS_TOKEN',
  'GATEWAY_TO_PAYMENTS_TOKEN',
  'GATEWAY_TO_WEBHOOK_DISPATCHER_TOKEN',
  'ORDERS_TO_PAYMENTS_TOKEN',
  'PAYMENTS_TO_ORDERS_TOKEN',
  'WEBHOOK_DISPATCHER_TO_ORDERS_TOKEN',
  'WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN',
  'ADMIN_TO_ORDERS_TOKEN',
  'ADMIN_TO_PAYMENTS_TOKEN',
  'METRICS_TOKEN',
] as const;

const derivedToken = (secret: string, name: string): string => createHmac('sha256', secret).update(name).digest('hex');

/** Each service can have a database role of its own. */
const DATABASE_URLS = ['GATEWAY', 'ORDERS', 'PAYMENTS', 'WEBHOOK_DISPATCHER'].map((name) => `${name}_DATABASE_URL`);

/** The environment of one process: without the tokens that it neither sends nor accepts, and without the database roles
 *  of others. */
export const withOwnSecrets = (process: string, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const name = process.toUpperCase().replaceAll('-', '_');
  const others = TOKENS.filter((token) => token !== 'METRICS_TOKEN' && !token.split(/_TO_|_TOKEN/).includes(name));
  const own = DATABASE_URLS.find((variable) => variable === `${name}_DATABASE_URL`);
  return {
    ...env,
    ...Object.fromEntries([...others, ...DATABASE_URLS].map((variable) => [variable, undefined])),
    ...(name !== 'GATEWAY' && { AUDIT_LOG_KEY: undefined }),
    DATABASE_URL: (own && env[own]) || env.DATABASE_URL,
  };
};

/** Base URL of a process, as seen from this machine. */
export const httpAddress = (ports: readonly PortPlan[], process: string): string => {
  const { host, via } = planOf(ports, process);
  const clientHost = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${clientHost.includes(':') ? `[${clientHost}]` : clientHost}:${via}`;
};

const viaOf = (ports: readonly PortPlan[], process: string): number => planOf(ports, process).via;

const planOf = (ports: readonly PortPlan[], process: string): PortPlan => {
  const plan = ports.find((candidate) => candidate.process === process);
  if (!plan) throw new Error(`no port was planned for ${process}`);
  return plan;
};
