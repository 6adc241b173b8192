import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AssetsFile } from '@cpg/assets';
import { explainWriteErrors, writeJson } from '../data/write-file.ts';
import { LaunchError } from '../launch-error.ts';
import { LOCAL_CHAINS, localAssets } from './local-assets.ts';

/** Addresses of the chain nodes of this machine; absent for one that does not run. */
export interface ChainNodes {
  readonly ethereum?: string | undefined;
  readonly bitcoin?: string | undefined;
}

/** Variables that point services at the chains of this machine. Those in `env` win.
 *  Throws LaunchError if ASSETS_FILE or CHAIN_URLS cannot be read. */
export const chainEnvironment = (
  nodes: ChainNodes,
  dataDir: string,
  env: NodeJS.ProcessEnv,
): { ASSETS_FILE?: string; CHAIN_URLS?: string; TEST_WALLET_URL?: string } => {
  const chains = { ethereum: Boolean(nodes.ethereum), bitcoin: Boolean(nodes.bitcoin) };
  if (!chains.ethereum && !chains.bitcoin) return {};
  const file = env.ASSETS_FILE || join(dataDir, 'assets.json');
  if (!env.ASSETS_FILE) explainWriteErrors(dataDir, () => writeJson(file, localAssets(chains)));
  const { networks } = readJson('ASSETS_FILE', () => readFileSync(file, 'utf8')) as Pick<AssetsFile, 'networks'>;
  const urlOf = new Map<string, string | undefined>([
    [LOCAL_CHAINS.ethereum, nodes.ethereum],
    [LOCAL_CHAINS.bitcoin, nodes.bitcoin],
  ]);
  const own = networks.flatMap(({ network, chain_id }) => {
    const url = urlOf.get(chain_id);
    return url ? [[network, [url]] as const] : [];
  });
  const given = readJson('CHAIN_URLS', () => env.CHAIN_URLS || '{}') as object;
  const wallet = env.TEST_WALLET_URL || nodes.ethereum;
  return {
    ASSETS_FILE: file,
    CHAIN_URLS: JSON.stringify({ ...Object.fromEntries(own), ...given }),
    ...(wallet && { TEST_WALLET_URL: wallet }),
  };
};

// The text is not shown: URLs of nodes are secrets.
const readJson = (variable: string, read: () => string): unknown => {
  try {
    return JSON.parse(read());
  } catch (cause) {
    throw new LaunchError(`${variable} is not JSON that can be read`, { cause });
  }
};
