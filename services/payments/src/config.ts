import { join } from 'node:path';
import { AssetsConfig, type AssetTable, readAssets } from '@cpg/assets';
import { type Scales, scalesOf } from '@cpg/contracts';
import {
  ConfigError,
  EventStoreConfig,
  HttpUrl,
  invalidFile,
  isGuessable,
  KafkaConfig,
  Port,
  readConfig,
  readJsonFile,
  SecretList,
  ServiceConfig,
} from '@cpg/platform';
import { z } from 'zod';
import { type DepositNetwork, depositNetworkOf } from './addresses/deposit-network.ts';
import { refusePublishedKey } from './addresses/published-keys.ts';
import { watchedNetworks } from './chains/network-availability.ts';
import { type FeeSchedule, feeScheduleIn } from './payment/fees.ts';
import { type ProviderSettings, ProvidersFile } from './rails/gateway-pay/http-provider.ts';

const CONFIG_FOLDER = join(import.meta.dirname, '../config');

/** `CHAIN_URLS`: the nodes of each network, as JSON. URLs contain passwords and keys, so no fault shows one. */
export const ChainUrls = z
  .string()
  .default('{}')
  .transform((text, context) => {
    try {
      return JSON.parse(text || '{}') as unknown;
    } catch {
      context.addIssue({
        code: 'custom',
        message: 'must be JSON like {"bitcoin":["http://user:password@127.0.0.1:8332"]}',
      });
      return z.NEVER;
    }
  })
  .pipe(z.record(z.string(), z.array(HttpUrl).min(1)));

const Config = z.object({
  ...ServiceConfig.shape,
  ...EventStoreConfig.shape,
  ...KafkaConfig.shape,
  ...AssetsConfig.shape,
  PORT: Port.default(4002),
  ORDERS_URL: HttpUrl,
  /** The first one is sent; all are accepted by orders. */
  PAYMENTS_TO_ORDERS_TOKEN: SecretList,
  /** The tokens of the callers of payments. */
  GATEWAY_TO_PAYMENTS_TOKEN: SecretList,
  ORDERS_TO_PAYMENTS_TOKEN: SecretList,
  WEBHOOK_DISPATCHER_TO_PAYMENTS_TOKEN: SecretList,
  ADMIN_TO_PAYMENTS_TOKEN: SecretList,
  /** Public address of the gateway, which serves the payment pages. */
  PUBLIC_URL: z
    .url()
    .default('http://127.0.0.1:4000')
    .transform((url) => url.replace(/(?<!\/)\/+$/, '')),
  /** Outside providers of gateway_pay, with their secrets. */
  PROVIDERS_FILE: z.string().optional(),
  /** JSON file with the fees of the gateway. */
  FEES_FILE: z.string().default(join(CONFIG_FOLDER, 'fees.json')),
  /** Extended public keys of the accounts that receive deposits. A sandbox defaults to well-known test keys. */
  BITCOIN_XPUB: z.string().optional(),
  EVM_XPUB: z.string().optional(),
  /** Nodes of each network. A network without any is not watched. */
  CHAIN_URLS: ChainUrls,
  /** How often nodes are asked for new blocks. Default: by the kind of chain. */
  CHAIN_POLL_MS: z.coerce.number().int().min(100).max(600_000).optional(),
  /** Nodes that must have shown a transfer before its money is confirmed. Default: 2 for large amounts where there are
   *  two nodes, else 1. */
  CHAIN_QUORUM: z.coerce.number().int().min(1).max(16).optional(),
});

type FileVariables = 'PROVIDERS_FILE' | 'FEES_FILE' | keyof z.infer<typeof AssetsConfig> | 'BITCOIN_XPUB' | 'EVM_XPUB';

export type Config = Omit<z.infer<typeof Config>, FileVariables> & {
  readonly providers: readonly ProviderSettings[];
  readonly fees: FeeSchedule;
  readonly assets: AssetTable;
  readonly scales: Scales;
  /** The networks of the table, with the accounts of the platform. */
  readonly networks: readonly DepositNetwork[];
};

/** Reads the environment variables and the files that they point to. Throws ConfigError with the variable and the
 *  fault. */
export const readPaymentsConfig = (env: NodeJS.ProcessEnv): Config => {
  const { PROVIDERS_FILE, FEES_FILE, BITCOIN_XPUB, EVM_XPUB, ...config } = readConfig(Config, env);
  const assets = readAssets(config);
  const scales = scalesOf(config);
  requireKnownNetworks(config.CHAIN_URLS, assets);
  requireQuorum(config);
  const read = {
    ...config,
    providers: PROVIDERS_FILE === undefined ? [] : readProviders(PROVIDERS_FILE, config.ENVIRONMENT),
    fees: readJsonFile('FEES_FILE', FEES_FILE, feeScheduleIn(scales)),
    assets,
    scales,
    networks: networksIn(assets, { BITCOIN_XPUB, EVM_XPUB }, config.ENVIRONMENT),
  };
  requireRail(read);
  return read;
};

/** In production somebody has to see that an order is paid. */
const requireRail = (config: Config): void => {
  if (config.ENVIRONMENT === 'sandbox' || config.providers.length > 0 || watchedNetworks(config).length > 0) return;
  const names = config.networks.map(({ name }) => name).join(' or ');
  throw new ConfigError(
    `no payment would be seen: set CHAIN_URLS with nodes of ${names}, or PROVIDERS_FILE with an outside provider`,
  );
};

const requireKnownNetworks = (urls: Config['CHAIN_URLS'], { networks }: AssetTable): void => {
  const unknown = Object.keys(urls).find((name) => !networks.some((network) => network.name === name));
  if (unknown !== undefined)
    throw new ConfigError(
      `CHAIN_URLS names the network ${unknown}, but the networks are ${networks.map(({ name }) => name).join(', ')}`,
    );
};

const requireQuorum = ({ CHAIN_QUORUM = 1, CHAIN_URLS }: Pick<Config, 'CHAIN_QUORUM' | 'CHAIN_URLS'>): void => {
  const [network, nodes] = Object.entries(CHAIN_URLS).find(([, urls]) => urls.length < CHAIN_QUORUM) ?? [];
  if (!network) return;
  throw new ConfigError(
    `CHAIN_QUORUM is ${CHAIN_QUORUM}, but CHAIN_URLS has ${nodes!.length} for ${network}: add nodes, or lower CHAIN_QUORUM`,
  );
};

const readProviders = (file: string, environment: 'sandbox' | 'production'): ProviderSettings[] => {
  const { providers } = readJsonFile('PROVIDERS_FILE', file, ProvidersFile);
  if (environment === 'sandbox') return providers;
  const faults = providers.flatMap(({ name, url, secrets }) => [
    ...(url.startsWith('https:') ? [] : [`the url of ${name} must use https in production`]),
    ...(secrets.some(isGuessable) ? [`a secret of ${name} is not random: generate it with openssl rand -hex 32`] : []),
  ]);
  if (faults.length > 0) throw invalidFile('PROVIDERS_FILE', file, faults);
  return providers;
};

/** The variable that sets the account key of each kind of network. */
const ACCOUNT_KEY_VARIABLES = { bitcoin: 'BITCOIN_XPUB', evm: 'EVM_XPUB' } as const;

type AccountKeys = Record<(typeof ACCOUNT_KEY_VARIABLES)[keyof typeof ACCOUNT_KEY_VARIABLES], string | undefined>;

const networksIn = (
  table: AssetTable,
  accountKeys: AccountKeys,
  environment: 'sandbox' | 'production',
): DepositNetwork[] =>
  table.networks.map((network) => {
    const variable = ACCOUNT_KEY_VARIABLES[network.kind];
    try {
      const deposits = depositNetworkOf(table, network, accountKeys[variable]);
      if (environment === 'production') refusePublishedKey(deposits);
      return deposits;
    } catch (cause) {
      throw new ConfigError(`${(cause as Error).message}: set ${variable}`, { cause });
    }
  });
