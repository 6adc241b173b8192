import type { Logger } from '@cpg/platform';
import type { ChainKind } from '../chain-kind.ts';
import type { BlockRef, ChainSource } from '../chain-source.ts';
import { type ChainState, type ChainStore, isUnmined, unwind } from './chain-store.ts';
import type { ChainStream } from './chain-stream.ts';
import { requireLead } from './reading.ts';

export interface OpenChainOptions {
  readonly network: string;
  readonly kind: ChainKind;
  readonly source: ChainSource;
  readonly store: ChainStore;
  readonly stream: ChainStream;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Loads how far a chain was read. Begins where that is unknown, and begins a rescan that an operator asked for. With
 *  `verify`, also throws ChainHaltedError or WrongChainError if the nodes serve another chain. */
export const openChain = (options: OpenChainOptions) => {
  const { network, kind, source, store, stream, now, log } = options;

  const begin = async (): Promise<void> => {
    const { genesis, ...start } = await startPlace({ source, stream, kind });
    requireLead(await store.begin(genesis, null, { cursor: { ...start, time: null, nodes: [] }, transfers: [] }));
    log.info({ network, height: start.height }, 'reading of the chain begins');
  };

  const rescan = async (state: ChainState | null, from: number): Promise<void> => {
    const { genesis, ...start } = await rescanPlace({ source, kind, from });
    await stream.started({ ...start, genesis });
    const cursor = state?.window.at(-1) ?? null;
    const readUpTo = cursor?.height ?? start.height;
    const gone = await store.above(start.height);
    const change = unwind(
      { ...start, time: null, nodes: [] },
      readUpTo,
      gone,
      (await store.open()).filter(isUnmined),
      now(),
    );
    requireLead(await store.begin(genesis, cursor, change));
    log.warn({ network, height: start.height, from }, 'the chain is read again, as an operator asked');
  };

  return async ({ verify }: { readonly verify: boolean }): Promise<ChainState> => {
    if (verify) await source.verify();
    for (;;) {
      const { state, rescanFrom } = await store.load();
      if (rescanFrom !== null) await rescan(state, rescanFrom);
      else if (!state) await begin();
      else {
        if (verify) await requireSameChain(source, state.genesis);
        return state;
      }
    }
  };
};

type HaltReason = 'deeper_than_window' | 'other_chain';

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
const startPlace = async ({
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
const rescanPlace = async ({
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
const requireSameChain = async (source: ChainSource, genesis: string): Promise<void> => {
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
