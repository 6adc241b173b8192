import type { Block, BlockRef, ChainSource } from '../chain-source.ts';
import type { WatchedAddresses } from './watched-addresses.ts';

/** A block, and the number of addresses that were watched. */
export interface FetchedBlock {
  readonly block: Block;
  readonly watched: number;
}

export interface BlocksAhead {
  /** The same as `at` of the source. */
  readonly at: ChainSource['at'];
  readonly block: (ref: BlockRef) => Promise<FetchedBlock>;
}

/** Fetches the next `count` blocks up to `tip` while one is read, because catch-up mostly waits for nodes.
 *  A fetched block may have left the chain since. */
export const blocksAhead = (
  source: ChainSource,
  watched: WatchedAddresses,
  tip: number,
  count: number,
): BlocksAhead => {
  const fetched = new Map<number, Promise<FetchedBlock | null>>();

  const fetch = async (ref: BlockRef | null): Promise<FetchedBlock | null> => {
    if (!ref) return null;
    // The block exists by now, so every address that it pays was reserved before.
    const addresses = await watched.refresh();
    return { block: await source.block(ref, addresses), watched: addresses.size };
  };
  const start = (height: number, ref: Promise<BlockRef | null>): Promise<FetchedBlock | null> => {
    const promise = ref.then(fetch);
    promise.catch(() => {}); // reported to the caller that asks for this block
    fetched.set(height, promise);
    return promise;
  };
  const fill = (from: number): void => {
    for (const height of fetched.keys()) if (height < from) fetched.delete(height);
    for (let height = from; height < Math.min(tip + 1, from + count); height += 1)
      if (!fetched.has(height)) void start(height, source.at(height));
  };

  return {
    at: async (height) => (await fetched.get(height))?.block.ref ?? source.at(height),
    block: async (ref) => {
      const ahead = fetched.get(ref.height) ?? start(ref.height, Promise.resolve(ref));
      fill(ref.height + 1);
      const found = await ahead;
      return found?.block.ref.hash === ref.hash ? found : (await fetch(ref))!;
    },
  };
};
