import { join } from 'node:path';
import { scalesOf } from '@cpg/contracts';
import { ConfigError, invalidFile, readJsonFile } from '@cpg/platform';
import { z } from 'zod';
import { type AssetTable, assetTable, AssetTableError } from './asset-table.ts';
import { AssetsFile } from './assets-file.ts';
import { isMainnet } from './chain-facts.ts';

const CONFIG_FOLDER = join(import.meta.dirname, '../config');

/** Variables of every service that reads the asset table. */
export const AssetsConfig = z.object({
  /** Names of networks in the file of the environment: `bitcoin,ethereum,base`. */
  NETWORKS: z
    .string()
    .transform((text) => text.split(',').map((name) => name.trim()))
    .optional(),
  /** Overrides `if_sent` in the file of the environment: for tokens that payers are not asked for. */
  BRIDGED_TOKENS: z.enum(['credit', 'orphan'], { error: 'must be credit or orphan' }).optional(),
  /** Chains, and the coins and tokens on them, instead of the file of the environment. */
  ASSETS_FILE: z.string().optional(),
});

/** Networks of a file of an environment that apply unless NETWORKS names others. */
const DEFAULT_NETWORKS = ['bitcoin', 'ethereum', 'bitcoin-testnet', 'ethereum-sepolia'];

type Environment = 'sandbox' | 'production';

/** Reads the asset table. Throws ConfigError with the variable or the file, and every fault. */
export const readAssets = ({
  ENVIRONMENT,
  NETWORKS,
  BRIDGED_TOKENS,
  ASSETS_FILE,
  CAZ_DECIMALS,
}: z.output<typeof AssetsConfig> & {
  readonly ENVIRONMENT: Environment;
  readonly CAZ_DECIMALS: number;
}): AssetTable => {
  const scales = scalesOf({ CAZ_DECIMALS });
  if (ASSETS_FILE === undefined) return assetTable(bundled(ENVIRONMENT, NETWORKS, BRIDGED_TOKENS), scales);
  for (const [variable, value] of Object.entries({ NETWORKS, BRIDGED_TOKENS }))
    if (value !== undefined)
      throw new ConfigError(
        `${variable} changes the table that comes with the gateway, and ASSETS_FILE (${ASSETS_FILE}) replaces it: set only one of them`,
      );
  const file = readJsonFile('ASSETS_FILE', ASSETS_FILE, AssetsFile);
  const faults = ENVIRONMENT === 'production' ? testNetworkFaults(file) : [];
  if (faults.length > 0) throw invalidFile('ASSETS_FILE', ASSETS_FILE, faults);
  try {
    return assetTable(file, scales);
  } catch (error) {
    throw error instanceof AssetTableError ? invalidFile('ASSETS_FILE', ASSETS_FILE, error.faults) : error;
  }
};

/** The file of an environment with the networks of these names. */
const bundled = (
  environment: Environment,
  names: readonly string[] = DEFAULT_NETWORKS,
  bridged: z.output<typeof AssetsConfig>['BRIDGED_TOKENS'],
): AssetsFile => {
  const path = join(CONFIG_FOLDER, `assets.${environment}.json`);
  const { networks, assets } = readJsonFile('NETWORKS', path, AssetsFile);
  const known = networks.map(({ network }) => network);
  const unknown = names.filter((name) => names !== DEFAULT_NETWORKS && !known.includes(name));
  if (unknown.length > 0)
    throw new ConfigError(
      `NETWORKS: ${unknown.map((name) => JSON.stringify(name)).join(', ')} must be among ${known.join(', ')} in the ${environment}: for other networks, write an ASSETS_FILE`,
    );
  return {
    networks: networks.filter(({ network }) => names.includes(network)),
    assets: assets
      .filter(({ network }) => names.includes(network))
      .map((row) => ({ ...row, ...(row.if_sent && bridged && { if_sent: bridged }) })),
  };
};

/** Coins that anybody gets for nothing must not pay real orders. */
const testNetworkFaults = ({ networks }: AssetsFile): string[] =>
  networks
    .filter(({ chain_id }) => isMainnet(chain_id) === false)
    .map(
      ({ network, chain_id }) =>
        `${network} (${chain_id}) is a test network, whose coins are free: in production they would pay real orders. Remove the network and its assets, or test in a sandbox, a deployment with ENVIRONMENT=sandbox and stores of its own`,
    );
