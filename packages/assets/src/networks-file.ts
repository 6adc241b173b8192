import { decimalsOf, type PaymentCurrency } from '@cpg/contracts';
import { z } from 'zod';
import type { AssetRow, AssetsFile } from './assets-file.ts';
import { chainOf } from './chains.ts';

// The networks file of earlier versions. It gave ETH to every EVM chain, and every token the decimals of its currency.
const NetworksFile = z.object({
  note: z.string().optional(),
  networks: z
    .array(
      z.object({
        kind: z.enum(['bitcoin', 'evm']),
        network: z.string(),
        chain_id: z.string(),
        confirmations: z.int(),
        xpub: z.string().optional(),
        tokens: z.record(z.string(), z.object({ contract: z.string() })).optional(),
      }),
    )
    .min(1),
});

const SMALLEST_BITCOIN_DEPOSIT = '0.00001';

/** The content of a networks file as a file of assets, for the operator to check; null if it is no networks file. It
 *  omits ETH on chains that have another native coin, or an unknown one. */
export const assetsFileFrom = (content: unknown): AssetsFile | null => {
  const { success, data } = NetworksFile.safeParse(content);
  if (!success) return null;
  return {
    ...(data.note && { note: data.note }),
    networks: data.networks.map(({ network, chain_id, xpub }) => ({ network, chain_id, ...(xpub && { xpub }) })),
    assets: data.networks.flatMap(({ kind, network, chain_id, confirmations, tokens = {} }): AssetRow[] => {
      const row = (currency: PaymentCurrency, asset: { native: true } | { contract: string }): AssetRow => ({
        currency,
        network,
        ...asset,
        decimals: decimalsOf(currency),
        smallest_payable: currency === 'BTC' ? SMALLEST_BITCOIN_DEPOSIT : smallest(decimalsOf(currency)),
        confirmations,
      });
      if (kind === 'bitcoin') return [row('BTC', { native: true })];
      const coin = chainOf(chain_id)?.nativeCoin === 'ETH' ? [row('ETH', { native: true })] : [];
      return [
        ...coin,
        ...Object.entries(tokens).map(([currency, { contract }]) => row(currency as PaymentCurrency, { contract })),
      ];
    }),
  };
};

/** One minor unit, as an amount. */
const smallest = (decimals: number): string => (decimals === 0 ? '1' : `0.${'1'.padStart(decimals, '0')}`);
