import type { Asset, Network } from '@cpg/assets';
import { bitcoinSource } from './bitcoin/bitcoin-source.ts';
import type { ChainSource } from './chain-source.ts';
import { evmSource } from './evm/evm-source.ts';
import type { NodesOptions } from './nodes/nodes.ts';

/** Opens the source of a network. `close` ends its connections. */
export const openChainSource = (
  network: Network,
  assets: readonly Asset[],
  nodes: NodesOptions,
): ChainSource & { readonly close: () => Promise<void> } => {
  const own = assets.filter((asset) => asset.network.name === network.name);
  return network.kind === 'bitcoin'
    ? bitcoinSource({ network, asset: own[0]!, nodes })
    : evmSource({ network, assets: own, nodes });
};
