import { checkedAnswer } from '../nodes/answers.ts';
import type { ChainSource } from '../chain-source.ts';
import type { Nodes } from '../nodes/nodes.ts';
import { Header } from './answers.ts';

/** Says by the tag `finalized` whether a block is final: on a layer 2, whether layer 1 has made it final. All answering
 *  nodes have to agree. A node without the tag is one that does not answer. */
export const finalityOf = (nodes: Pick<Nodes, 'all'>): NonNullable<ChainSource['isFinal']> => {
  let final = -1;
  return async ({ height }) => {
    if (height <= final) return true;
    const method = 'eth_getBlockByNumber';
    const heights = await nodes.all(async (node) => {
      const answer = await node.call(method, ['finalized', false]);
      return answer === null ? -1 : checkedAnswer(node, method, Header, answer).number;
    });
    final = Math.max(final, Math.min(...heights));
    return height <= final;
  };
};
