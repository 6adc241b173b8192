import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AssetsConfig, type AssetsFile } from '@cpg/assets';
import { explainWriteErrors, writeJson } from '../data/write-file.ts';
import { LaunchError } from '../launch-error.ts';
import { LOCAL_CHAINS, localAssets } from './local-assets.ts';

/** Addresses of the chain nodes of this machine; absent for one that does not run. */
export interface ChainNodes {
  readonly ethereum?: string | undefined;
  readonly bitcoin?: string | undefined;
}

/** Variables that name the assets and point services at the chains of this machine. Those in `env` win; they are
 *  returned too, because commands in another shell have to read the same assets. Throws LaunchError if ASSETS_FILE or
 *  CHAIN_URLS cannot be read. */
export const chainEnvironment = (
  nodes: ChainNodes,
  dataDir: string,
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, string>> => {
  const chains = { ethereum: Boolean(nodes.ethereum), bitcoin: Boolean(nodes.bitcoin) };
  const own = ownSettings(env);
  if (!chains.ethereum && !chains.bitcoin) return own;
  const file = own.ASSETS_FILE ?? join(dataDir, 'assets.json');
  if (!own.ASSETS_FILE) explainWriteErrors(dataDir, () => writeJson(file, localAssets(chains)));
  const { networks } = readJson('ASSETS_FILE', () => readFileSync(file, 'utf8')) as Pick<AssetsFile, 'networks'>;
  const urlOf = new Map<string, string | undefined>([
    [LOCAL_CHAINS.ethereum, nodes.ethereum],
    [LOCAL_CHAINS.bitcoin, nodes.bitcoin],
  ]);
  const local = networks.flatMap(({ network, chain_id }) => {
    const url = urlOf.get(chain_id);
    return url ? [[network, [url]] as const] : [];
  });
  const given = readJson('CHAIN_URLS', () => env.CHAIN_URLS || '{}') as object;
  const wallet = env.TEST_WALLET_URL || nodes.ethereum;
  return {
    ...own,
    ASSETS_FILE: file,
    CHAIN_URLS: JSON.stringify({ ...Object.fromEntries(local), ...given }),
    ...(wallet && { TEST_WALLET_URL: wallet }),
  };
};

const NAMES = [...Object.keys(AssetsConfig.shape), 'CAZ_DECIMALS', 'CHAIN_URLS'];

/** What the caller set, with an absolute path. */
const ownSettings = (env: NodeJS.ProcessEnv): Record<string, string> => {
  const own = Object.fromEntries(NAMES.flatMap((name) => (env[name] ? [[name, env[name]] as const] : [])));
  return own.ASSETS_FILE === undefined ? own : { ...own, ASSETS_FILE: resolve(own.ASSETS_FILE) };
};

// The text is not shown: URLs of nodes are secrets.
const readJson = (variable: string, read: () => string): unknown => {
  try {
    return JSON.parse(read());
  } catch (cause) {
    throw new LaunchError(`${variable} is not JSON that can be read`, { cause });
  }
};
