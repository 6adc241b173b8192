import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ConfigError,
  EventStoreConfig,
  describeIssue,
  validationDetails,
  KafkaConfig,
  Port,
  readConfig,
  ServiceConfig,
} from '@cpg/runtime';
import { z } from 'zod';
import { FeeSchedule } from './payment/fees.ts';
import { type Network, NetworksFile, networkOf } from './rails/networks.ts';

const CONFIG_FOLDER = join(import.meta.dirname, '../config');

const Config = z.object({
  ...ServiceConfig.shape,
  ...EventStoreConfig.shape,
  ...KafkaConfig.shape,
  PORT: Port.default(4002),
  ORDERS_URL: z.url(),
  /** Public address of the gateway, which serves the payment pages. */
  PUBLIC_URL: z
    .url()
    .default('http://127.0.0.1:4000')
    .transform((url) => url.replace(/\/+$/, '')),
  FEES_FILE: z.string().default(join(CONFIG_FOLDER, 'fees.json')),
  /** Chains and tokens. Defaults to the file of the environment. */
  NETWORKS_FILE: z.string().optional(),
  /** Extended public keys of the accounts that receive deposits. A sandbox defaults to well-known test keys. */
  BITCOIN_XPUB: z.string().optional(),
  EVM_XPUB: z.string().optional(),
});

export type Config = Omit<z.infer<typeof Config>, 'FEES_FILE' | 'NETWORKS_FILE' | 'BITCOIN_XPUB' | 'EVM_XPUB'> & {
  readonly fees: FeeSchedule;
  readonly networks: readonly Network[];
};

/** Reads the environment variables and the files that they point to. Throws ConfigError with the variable and the
 *  fault. */
export const readPaymentsConfig = (env: NodeJS.ProcessEnv): Config => {
  const { FEES_FILE, NETWORKS_FILE, BITCOIN_XPUB, EVM_XPUB, ...config } = readConfig(Config, env);
  const networksFile = NETWORKS_FILE ?? join(CONFIG_FOLDER, `networks.${config.ENVIRONMENT}.json`);
  return {
    ...config,
    fees: readJson('FEES_FILE', FEES_FILE, FeeSchedule),
    networks: networksIn(readJson('NETWORKS_FILE', networksFile, NetworksFile), { BITCOIN_XPUB, EVM_XPUB }),
  };
};

const readJson = <T extends z.ZodType>(variable: string, path: string, schema: T): z.output<T> => {
  const parsed = schema.safeParse(jsonAt(variable, path), { error: describeIssue });
  if (parsed.success) return parsed.data;
  const faults = validationDetails(parsed.error).map((fault) => `  ${fault.path}: ${fault.message}`);
  throw new ConfigError(`${variable} (${path}) is invalid:\n${faults.join('\n')}`);
};

const jsonAt = (variable: string, path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new ConfigError(`${variable} (${path}) cannot be read: ${(cause as Error).message}`, { cause });
  }
};

/** The variable that sets the account key of each kind of network. */
const ACCOUNT_KEY_VARIABLES = { bitcoin: 'BITCOIN_XPUB', evm: 'EVM_XPUB' } as const;

type AccountKeys = Record<(typeof ACCOUNT_KEY_VARIABLES)[keyof typeof ACCOUNT_KEY_VARIABLES], string | undefined>;

const networksIn = ({ networks }: NetworksFile, accountKeys: AccountKeys): Network[] =>
  networks.map((entry) => {
    const variable = ACCOUNT_KEY_VARIABLES[entry.kind];
    try {
      return networkOf(entry, accountKeys[variable]);
    } catch (cause) {
      throw new ConfigError(`${(cause as Error).message}: set ${variable}`, { cause });
    }
  });
