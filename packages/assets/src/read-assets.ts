import { join } from 'node:path';
import { ConfigError, invalidFile, readJsonFile } from '@cpg/runtime';
import { z } from 'zod';
import { type AssetTable, assetTable, AssetTableError } from './asset-table.ts';
import { AssetsFile } from './assets-file.ts';
import { assetsFileFrom } from './networks-file.ts';

const CONFIG_FOLDER = join(import.meta.dirname, '../config');

/** Variables of every service that reads the asset table. */
export const AssetsConfig = z.object({
  /** Chains, and the coins and tokens on them. Defaults to the file of the environment. */
  ASSETS_FILE: z.string().optional(),
  /** The variable of earlier versions. */
  NETWORKS_FILE: z.string().optional(),
});

/** Reads the asset table. Throws ConfigError with the file and every fault. Call it after `readConfig`, which sets the
 *  decimals of CAZ. */
export const readAssets = ({
  ENVIRONMENT,
  ASSETS_FILE,
  NETWORKS_FILE,
}: z.output<typeof AssetsConfig> & { readonly ENVIRONMENT: 'sandbox' | 'production' }): AssetTable => {
  if (NETWORKS_FILE !== undefined)
    throw earlierVersion('NETWORKS_FILE', NETWORKS_FILE, readJsonFile('NETWORKS_FILE', NETWORKS_FILE, z.unknown()));
  const path = ASSETS_FILE ?? join(CONFIG_FOLDER, `assets.${ENVIRONMENT}.json`);
  const content = readJsonFile('ASSETS_FILE', path, z.unknown());
  if (assetsFileFrom(content)) throw earlierVersion('ASSETS_FILE', path, content);
  const file = readJsonFile('ASSETS_FILE', path, AssetsFile);
  try {
    return assetTable(file);
  } catch (error) {
    throw error instanceof AssetTableError ? invalidFile('ASSETS_FILE', path, error.faults) : error;
  }
};

/** An account key reveals all payments to the account, so no message shows it. */
const withoutKeys = (name: string, value: unknown): unknown =>
  name === 'xpub' ? 'copy the key from the networks file' : value;

/** A setting of an earlier version is refused: it did not say which chains have ETH, and how many decimals a token
 *  has. */
const earlierVersion = (variable: string, path: string, content: unknown): ConfigError => {
  const converted = assetsFileFrom(content);
  const where = 'set ASSETS_FILE to a file of assets instead, the same for orders and payments';
  if (!converted) return new ConfigError(`${variable} (${path}) is no longer read: ${where}`);
  return new ConfigError(
    `${variable} (${path}) is a networks file of an earlier version: ${where}. This is its content; compare each "decimals" with decimals() of the contract, and add "native": true rows for coins that it lacks:\n${JSON.stringify(converted, withoutKeys, 2)}`,
  );
};
