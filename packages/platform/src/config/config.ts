import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { describeIssue, validationDetails } from './validation-messages.ts';
import { isAddressOrCidr } from '../network/addresses.ts';
import { DatabaseUrl, EventStoreUrl, PrivateHosts, unencryptedConnections } from './connection-urls.ts';
import { guessableSecrets, readSecretFiles, SecretList, sharedSecrets } from './secrets.ts';
import { CommaSeparatedList } from './values.ts';

/** The configuration is invalid, or does not fit what the service found. The message says what to change. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export const Port = z.coerce.number().int().min(0).max(65_535);

/** A comma-separated list of IP addresses and CIDR blocks. */
export const AddressList = CommaSeparatedList.refine((list) => list.every(isAddressOrCidr), {
  error: 'must be a comma-separated list of IP addresses and CIDR blocks',
});

/** A comma-separated list of ports. */
export const PortList = CommaSeparatedList.transform((list) => list.map(Number)).refine(
  (ports) => ports.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535),
  { error: 'must be a comma-separated list of ports' },
);

export const Flag = z.enum(['true', 'false']).transform((text) => text === 'true');

/** Variables that every service reads. */
export const ServiceConfig = z.object({
  ENVIRONMENT: z.enum(['sandbox', 'production']),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  HOST: z.string().default('127.0.0.1'),
  /** The tokens with which Prometheus reads metrics. All are accepted. */
  METRICS_TOKEN: SecretList,
  DATABASE_URL: DatabaseUrl,
  PRIVATE_HOSTS: PrivateHosts.optional(),
  /** Decimals of amounts in CAZ, which has no public token that gives them. */
  CAZ_DECIMALS: z.coerce.number().int().min(0).max(18).default(18),
});

/** Address of the event store, for the services that write event streams. */
export const EventStoreConfig = z.object({
  EVENTSTORE_URL: EventStoreUrl,
  /** Into how many shards a service splits its events, by order, for its relay and its projections. */
  LOG_SHARDS: z.coerce.number().int().min(1).max(32).default(1),
});

/** Addresses and credentials of Kafka. */
export const KafkaConfig = z.object({
  KAFKA_BROKERS: CommaSeparatedList,
  KAFKA_TLS: Flag.default(false),
  /** PEM file of the certificate authorities that signed the brokers' certificates. Default: the ones that Node.js
   *  trusts. */
  KAFKA_TLS_CA_FILE: z.string().optional(),
  KAFKA_SASL_MECHANISM: z.enum(['plain', 'scram-sha-256', 'scram-sha-512']).optional(),
  KAFKA_SASL_USERNAME: z.string().optional(),
  KAFKA_SASL_PASSWORD: z.string().optional(),
  KAFKA_PARTITIONS: z.coerce.number().int().positive().default(12),
  /** Default: 3 in production, 1 in a sandbox. */
  KAFKA_REPLICATION: z.coerce.number().int().positive().optional(),
  KAFKA_ALLOW_FEWER_REPLICAS: Flag.default(false),
  KAFKA_RETENTION_DAYS: z.coerce.number().int().positive().default(30),
});

/** Parses the environment at start. Empty values count as absent. A secret `NAME` can be
 *  in the file that `NAME_FILE` names. Throws ConfigError with every fault, and without any secret. */
export const readConfig = <T extends z.ZodType>(schema: T, env: NodeJS.ProcessEnv): z.output<T> => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const { secrets, faults: unreadable } = readSecretFiles(given);
  const present: NodeJS.ProcessEnv = { ...given, ...secrets };
  const parsed = schema.safeParse(present, { error: describeIssue });
  const faults = parsed.success ? [] : parsed.error.issues.map((issue) => `${String(issue.path[0])}: ${issue.message}`);
  faults.push(...unreadable, ...sharedSecrets(present), ...halfSetKafka(present));
  if (present.ENVIRONMENT === 'production')
    faults.push(...guessableSecrets(present), ...unencryptedConnections(present));
  if (!parsed.success || faults.length > 0) {
    throw new ConfigError(`invalid environment variables:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
  return parsed.data;
};

const SASL = ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const;

/** Settings of Kafka that would be ignored, because others are missing. */
const halfSetKafka = (env: NodeJS.ProcessEnv): string[] => {
  const set = SASL.filter((name) => env[name] !== undefined);
  const missing = set.length > 0 ? SASL.filter((name) => env[name] === undefined) : [];
  return [
    ...missing.map((name) => `${name}: is required with ${set.join(' and ')}`),
    ...(env.KAFKA_TLS_CA_FILE !== undefined && env.KAFKA_TLS !== 'true'
      ? ['KAFKA_TLS_CA_FILE: has no effect without KAFKA_TLS=true']
      : []),
  ];
};

/** The service must not run with this configuration. A retry cannot succeed; the message tells the operator what to
 *  change. */
export class FatalStartError extends Error {
  override readonly name: string = 'FatalStartError';
}

/** Reads the JSON file that a variable names. Throws ConfigError that names the variable, the file and every fault. */
export const readJsonFile = <T extends z.ZodType>(variable: string, path: string, schema: T): z.output<T> => {
  const parsed = schema.safeParse(jsonAt(variable, path), { error: describeIssue });
  if (parsed.success) return parsed.data;
  throw invalidFile(
    variable,
    path,
    validationDetails(parsed.error).map((fault) => `${fault.path}: ${fault.message}`),
  );
};

/** The error for a file with faults. */
export const invalidFile = (variable: string, path: string, faults: readonly string[]): ConfigError =>
  new ConfigError(`${variable} (${path}) is invalid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);

const jsonAt = (variable: string, path: string): unknown => {
  const text = textAt(variable, path);
  try {
    return JSON.parse(text);
  } catch {
    // Without the message and without a cause: the parser quotes the file, which may have secrets.
    throw invalidFile(variable, path, ['it is not valid JSON']);
  }
};

const textAt = (variable: string, path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ConfigError(`${variable} (${path}) cannot be read: ${(cause as Error).message}`, { cause });
  }
};
