import type { Logger } from '@cpg/platform';
import type { BlockRef, ChainSource } from '../chain-source.ts';
import type { BlocksAhead } from './blocks-ahead.ts';
import {
  type ChainChange,
  type ChainState,
  type ChainStore,
  forward,
  isUnmined,
  lookAtPool,
  type ReadBlock,
  unwind,
} from './chain-store.ts';
import { type BlockReading, knownIdsOf, readBlock, type Scope } from './recheck.ts';
import type { SeenTransfer } from './seen-transfer.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

export interface ReadingOptions {
  readonly network: string;
  readonly windowBlocks: number;
  readonly source: Pick<ChainSource, 'mempool'>;
  readonly blocks: BlocksAhead;
  readonly store: ChainStore;
  readonly watched: WatchedAddresses;
  /** CAIP-19: the assets of the network that the source looks for. */
  readonly assets: ReadonlySet<string>;
  /** Called when a reading differs from an earlier one of the same block. */
  readonly onDifference: (reading: BlockReading, block: BlockRef) => void;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Reads on from a state, with one transaction for each change. */
export const readingFrom = (state: ChainState, options: ReadingOptions) => {
  const { network, windowBlocks, source, blocks, store, watched, onDifference, now, log } = options;
  const window: ReadBlock[] = [...state.window];
  let { rechecked } = state;
  const cursor = () => window.at(-1)!;
  const unmined = async () => (await store.open()).filter(isUnmined);
  const commit = async (change: ChainChange): Promise<void> => {
    requireLead(await store.commit(cursor(), change));
    const { height } = change.cursor;
    const kept = window.filter((block) => block.height < height && block.height >= height - windowBlocks);
    window.splice(0, window.length, ...kept, change.cursor);
    rechecked = Math.min(change.rechecked ?? rechecked, height);
  };
  return {
    window: window as readonly ReadBlock[],
    height: () => cursor().height,
    /** The height up to which blocks were read again. */
    rechecked: () => rechecked,
    /** Commits transfers that a further reading of a block changed. */
    change: (transfers: readonly SeenTransfer[]): Promise<void> => commit({ cursor: cursor(), transfers }),
    moveRecheck: (to: number): Promise<void> => commit({ cursor: cursor(), transfers: [], rechecked: to }),
    /** Reads the block after the cursor, unless it follows another block. Resolves to the hash that it follows. */
    read: async (ref: BlockRef): Promise<{ readonly parent: string; readonly watched: number }> => {
      const { hash, height } = cursor();
      const { block, watched: addresses } = await blocks.block(ref);
      if (block.ref.hash !== ref.hash || block.ref.height !== height + 1)
        throw new Error(`the source of ${network} answered with another block`);
      if (block.parent === hash) {
        const [known, gone] = await Promise.all([
          store.ofBlock(ref, knownIdsOf(block.transfers)),
          block.spent ? unmined() : [],
        ]);
        const scope = await scopeOf(known, options);
        const first = readBlock(known, block, { scope, firstNodes: null, now: now() });
        await commit(forward(block, first.changed, gone));
        onDifference(first, ref);
      }
      return { parent: block.parent, watched: addresses };
    },
    /** Takes back the blocks above `to`. */
    undo: async (to: BlockRef): Promise<void> => {
      const { height } = cursor();
      const target = window.find((block) => block.height === to.height)!;
      const gone = await store.above(to.height);
      await commit(unwind(target, height, gone, await unmined(), now()));
      const depth = height - to.height;
      log.warn({ network, depth, height: to.height, transfers: gone.length }, 'blocks left the chain');
    },
    readMempool: async (): Promise<void> => {
      if (!source.mempool) return;
      const pool = await source.mempool(await watched.refresh());
      const known = await store.withIds(pool.map(({ id }) => id));
      const change = lookAtPool(cursor(), pool, known, await unmined(), now());
      if (change.transfers.length > 0) await commit(change);
    },
  };
};

/** The part of the scope of a reading that comes from known transfers. */
export const scopeOf = async (
  known: readonly SeenTransfer[],
  { watched, assets }: Pick<ReadingOptions, 'watched' | 'assets'>,
): Promise<Scope> => {
  const addresses = known.map(({ address }) => address);
  return {
    addresses: addresses.length > 0 ? await (await watched.refresh()).watchedAmong(addresses) : new Set(),
    assets,
  };
};

export type Reading = ReturnType<typeof readingFrom>;

/** Another process wrote: what this one knows of the cursor is out of date. */
export const requireLead = (isCommitted: boolean): void => {
  if (!isCommitted) throw new Error('the cursor of the chain moved meanwhile');
};
