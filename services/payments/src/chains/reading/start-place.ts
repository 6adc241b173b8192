import type { ChainKind } from '../chain-kind.ts';
import type { BlockRef, ChainSource } from '../chain-source.ts';
import type { ChainStream } from './chain-stream.ts';

export type HaltReason = 'deeper_than_window' | 'other_chain';

/** Reading of a chain stops until an operator acts. Nothing is changed meanwhile. */
export class ChainHaltedError extends Error {
  override readonly name = 'ChainHaltedError';
  readonly reason: HaltReason;
  constructor(reason: HaltReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The block after which reading begins when the tables know nothing: the last recorded one, or at the first start one
 *  some blocks below the tip, so that a reorganization finds a common block. */
export const startPlace = async ({
  source,
  stream,
  kind,
}: {
  readonly source: ChainSource;
  readonly stream: ChainStream;
  readonly kind: ChainKind;
}): Promise<BlockRef & { readonly genesis: string }> => {
  const { hash: genesis } = await blockAt(source, 0);
  const last = await stream.last();
  if (last) {
    if (last.genesis !== undefined && last.genesis !== genesis) throw otherChain(last.genesis, genesis);
    const { hash } = await blockAt(source, last.height);
    if (hash === last.hash) return { height: last.height, hash, genesis };
    throw new ChainHaltedError(
      'deeper_than_window',
      `block ${last.height}, up to which the chain was read, is not ${last.hash}`,
    );
  }
  const tip = await source.tip();
  const start = await blockAt(source, Math.max(0, tip.height - kind.startBlocks));
  await stream.started({ ...start, genesis });
  return { ...start, genesis };
};

/** The block after which a rescan begins: below `from`, and at least `startBlocks` below the tip.
 *  Accepts the chain that the nodes serve now. */
export const rescanPlace = async ({
  source,
  kind,
  from,
}: {
  readonly source: ChainSource;
  readonly kind: ChainKind;
  readonly from: number;
}): Promise<BlockRef & { readonly genesis: string }> => {
  const { hash: genesis } = await blockAt(source, 0);
  const tip = await source.tip();
  const start = await blockAt(source, Math.max(0, Math.min(from - 1, tip.height - kind.startBlocks)));
  return { ...start, genesis };
};

/** Throws ChainHaltedError if the nodes serve a chain with another beginning. */
export const requireSameChain = async (source: ChainSource, genesis: string): Promise<void> => {
  const { hash } = await blockAt(source, 0);
  if (hash !== genesis) throw otherChain(genesis, hash);
};

const otherChain = (expected: string, actual: string) =>
  new ChainHaltedError(
    'other_chain',
    `block 0 of the nodes is ${actual}, and that of the chain read so far ${expected}`,
  );

const blockAt = async (source: ChainSource, height: number): Promise<BlockRef> => {
  const ref = await source.at(height);
  if (!ref) throw new Error(`the nodes do not have block ${height} yet`);
  return ref;
};
