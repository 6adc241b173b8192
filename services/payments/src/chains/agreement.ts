import type { BlockRef } from './chain-source.ts';
import type { RpcNode } from './json-rpc.ts';
import type { Nodes } from './nodes.ts';

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
  /** Null above the tip of a node, undefined where nodes differ. */
  const agreed = async (at: number): Promise<string | null | undefined> => {
    const hashes = await nodes.all((node) => hashAt(node, at));
    if (hashes.includes(null)) return null;
    return hashes.every((hash) => hash === hashes[0]) ? hashes[0]! : undefined;
  };
  const differ = (at: number) => nodes.disagreement(`the block at height ${at}`);

  return {
    at: async (at: number): Promise<BlockRef | null> => {
      const hash = await agreed(at);
      if (hash === undefined) throw differ(at);
      return hash === null ? null : { height: at, hash };
    },
    tip: async (): Promise<BlockRef> => {
      const lowest = Math.min(...(await nodes.all(height)));
      for (let at = lowest; at >= Math.max(0, lowest - DEEPEST_FORK); at -= 1) {
        const hash = await agreed(at);
        if (typeof hash === 'string') return { height: at, hash };
      }
      throw differ(lowest);
    },
  };
};
