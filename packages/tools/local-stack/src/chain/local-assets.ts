import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { AssetsFile } from '@cpg/assets';
import { TEST_TOKENS } from '@cpg/local-chain';

/** The chains of this machine, by the CAIP-2 ids that no other chain has. */
export const LOCAL_CHAINS = {
  ethereum: 'eip155:31337',
  bitcoin: 'bip122:0f9188f13cb7b2c71f2a335e3a4fc328',
} as const;

/** What runs on this machine: an EVM chain, a Bitcoin chain. */
export interface LocalChains {
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
export const localAssets = (chains: LocalChains): AssetsFile => {
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
