import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { AssetsConfig, type AssetsFile } from '@cpg/assets';
import { TEST_TOKENS } from '@cpg/local-chain';
import { LaunchError } from '../config.ts';
import { explainWriteErrors, writeJson } from '../data/write-file.ts';

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

/** The chains of this machine, by the CAIP-2 ids that no other chain has. */
const LOCAL_CHAINS = {
  ethereum: 'eip155:31337',
  bitcoin: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328',
} as const;

/** What runs on this machine: an EVM chain, a Bitcoin chain. */
interface LocalChains {
  readonly ethereum: boolean;
  readonly bitcoin: boolean;
}

/** Networks of the sandbox, and those that take their places. */
const REPLACEMENTS = [
  { of: 'ethereum-sepolia', by: 'ethereum-local', kind: 'ethereum' },
  { of: 'bitcoin-testnet', by: 'bitcoin-regtest', kind: 'bitcoin' },
] as const;

/** Nobody rewrites a chain on one machine unasked. */
const CONFIRMATIONS = 1;

/** The assets of a sandbox whose deposits can be paid on the chains of this machine. */
const localAssets = (chains: LocalChains): AssetsFile => {
  const { networks, assets } = sandboxAssets();
  const replacements = new Map(
    REPLACEMENTS.filter(({ kind }) => chains[kind]).map((each) => [each.of as string, each]),
  );
  return {
    note: 'Written by the launcher at each start. The account keys are public test keys: anyone can spend deposits to their addresses.',
    networks: networks.map((row) => {
      const replacement = replacements.get(row.network);
      return replacement ? { ...row, network: replacement.by, chain_id: LOCAL_CHAINS[replacement.kind] } : row;
    }),
    assets: assets.map((row) => {
      const replacement = replacements.get(row.network);
      if (!replacement) return row;
      const { currency, native, decimals, smallest_payable } = row;
      const token = TEST_TOKENS.find((each) => each.currency === currency);
      return {
        currency,
        network: replacement.by,
        ...(native ? { native, decimals } : { contract: token!.contract, decimals: token!.decimals }),
        smallest_payable,
        confirmations: CONFIRMATIONS,
      };
    }),
  };
};

const sandboxAssets = (): AssetsFile => {
  const folder = dirname(createRequire(import.meta.url).resolve('@cpg/assets/package.json'));
  return JSON.parse(readFileSync(join(folder, 'config/assets.sandbox.json'), 'utf8')) as AssetsFile;
};
