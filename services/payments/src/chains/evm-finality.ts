import type { Asset, Network } from '@cpg/assets';
import type { ChainSource } from './chain-source.ts';
import { checkedAnswer, readHeader } from './evm/answers.ts';
import { checkDeployment } from './evm/deployment.ts';
import { type NodesOptions, openNodes } from './nodes.ts';

/** Says by the tag `finalized` whether a block is final: on a layer 2, whether layer 1 has made it final. All answering
 *  nodes have to agree. A node without the tag is one that does not answer. */
export const evmFinality = (
  network: Network,
  assets: readonly Asset[],
  options: NodesOptions,
): Required<Pick<ChainSource, 'isFinal'>> & { readonly close: () => Promise<void> } => {
  // Connections of their own, opened at the first question: few amounts wait for a final block.
  const nodes = openNodes(options, (node) => checkDeployment(node, network, assets));
  let final = -1;
  return {
    isFinal: async ({ height }) => {
      if (height <= final) return true;
      const method = 'eth_getBlockByNumber';
      const heights = await nodes.all(async (node) => {
        const answer = await node.call(method, ['finalized', false]);
        return answer === null ? -1 : checkedAnswer(node, method, readHeader, answer).number;
      });
      final = Math.max(final, Math.min(...heights));
      return height <= final;
    },
    close: nodes.close,
  };
};
