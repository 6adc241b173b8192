import type { BlockRef } from './chain-source.ts';
import type { RpcNode } from './json-rpc.ts';
import type { NodeAnswer, Nodes } from './nodes.ts';

/** How one kind of chain asks a node for positions. */
export interface Positions {
  readonly height: (node: RpcNode) => Promise<number>;
  /** Null above the tip of the node. */
  readonly hashAt: (node: RpcNode, height: number) => Promise<string | null>;
}

// Nodes that follow different branches for a moment agree on an ancestor a few blocks below.
const DEEPEST_FORK = 6;

/** Positions on which all answering nodes agree. A node that is behind holds the others back, because only what it
 *  shows too is certain. */
export const agreedPositions = (nodes: Nodes, { height, hashAt }: Positions) => {
  const hashesAt = (at: number) => nodes.each((node) => hashAt(node, at));
  /** Null above the tip of a node, undefined where nodes differ. */
  const agreedOf = (hashes: readonly NodeAnswer<string | null>[]): string | null | undefined => {
    const [first] = hashes;
    if (hashes.some(({ answer }) => answer === null)) return null;
    return hashes.every(({ answer }) => answer === first!.answer) ? first!.answer : undefined;
  };

  return {
    at: async (at: number): Promise<BlockRef | null> => {
      const hashes = await hashesAt(at);
      const hash = agreedOf(hashes);
      if (hash === undefined) throw nodes.disagreement(`the block at height ${at}`, hashes);
      return hash === null ? null : { height: at, hash };
    },
    tip: async (): Promise<BlockRef> => {
      const lowest = Math.min(...(await nodes.each(height)).map(({ answer }) => answer));
      const highest = await hashesAt(lowest);
      let hashes = highest;
      for (let at = lowest; at >= Math.max(0, lowest - DEEPEST_FORK); hashes = await hashesAt((at -= 1))) {
        const hash = agreedOf(hashes);
        if (typeof hash === 'string') return { height: at, hash };
      }
      throw nodes.disagreement(`the block at height ${lowest}`, highest);
    },
  };
};
