import {
  type Block,
  type BlockRef,
  type ChainSource,
  ReorganizedError,
  toWatched,
  type Transfer,
} from '../chains/chain-source.ts';

interface SimulatedBlock {
  readonly hash: string;
  readonly time: Date;
  readonly transfers: readonly Transfer[];
}

export type SimulatedChain = ReturnType<typeof simulatedChain>;

const HOUR_ZERO = Date.parse('2026-01-31T12:00:00.000Z');

/** A chain in memory whose blocks are a minute apart, and one node that serves it. */
export const simulatedChain = ({ name = 'main', hasMempool = true } = {}) => {
  let blocks: SimulatedBlock[] = [];
  let mined = 0;
  let pool: readonly Transfer[] = [];
  /** The node does not know the last blocks. */
  let missing = 0;
  let failure: Error | null = null;
  const mine = (...transfers: Transfer[]): BlockRef => {
    mined += 1;
    const height = blocks.length;
    blocks.push({ hash: `${name}-${height}-${mined}`, time: new Date(HOUR_ZERO + height * 60_000), transfers });
    pool = pool.filter(({ id }) => !transfers.some((transfer) => transfer.id === id));
    return { height, hash: blocks.at(-1)!.hash };
  };
  mine();
  const tipHeight = () => blocks.length - 1 - missing;
  const refAt = (height: number): BlockRef => ({ height, hash: blocks[height]!.hash });
  const answer =
    <T>(value: () => T | Promise<T>) =>
    async (): Promise<T> => {
      if (failure) throw failure;
      return value();
    };
  const spendersOf = ({ transfers }: SimulatedBlock) =>
    new Map(transfers.flatMap(({ txHash, spends = [] }) => spends.map((output) => [output, txHash] as const)));
  const source: ChainSource = {
    verify: answer(() => {}),
    tip: answer(() => refAt(tipHeight())),
    at: (height) => answer(() => (height <= tipHeight() ? refAt(height) : null))(),
    block: (ref, watched) =>
      answer(async (): Promise<Block> => {
        const block = blocks[ref.height];
        if (block?.hash !== ref.hash || ref.height > tipHeight()) throw new ReorganizedError(ref);
        const spenders = spendersOf(block);
        return {
          ref,
          parent: blocks[ref.height - 1]!.hash,
          time: block.time,
          transfers: await toWatched(block.transfers, watched),
          spent: (output) => spenders.get(output),
        };
      })(),
    ...(hasMempool && {
      mempool: (watched) => answer(() => toWatched(pool, watched))(),
    }),
  };
  return {
    source,
    mine,
    mineMany: (count: number) => {
      for (let n = 0; n < count; n += 1) mine();
    },
    /** Removes the last blocks. */
    drop: (depth: number) => void blocks.splice(Math.max(1, blocks.length - depth)),
    setPool: (transfers: readonly Transfer[]) => void (pool = transfers),
    setMissing: (count: number) => void (missing = count),
    setFailure: (error: Error | null) => void (failure = error),
    /** The node lost its data and syncs another chain. */
    wipe: () => {
      mined += 1_000_000;
      blocks = [];
      mine();
    },
    height: () => blocks.length - 1,
    refAt,
    /** When the newest block was mined. */
    now: () => blocks.at(-1)!.time,
    transfers: () => blocks.flatMap(({ transfers }) => transfers),
  };
};

/** Runs `work` and dies before or after one of its writes. */
export class Crash extends Error {
  override readonly name = 'Crash';
}

/** Counts down writes; the last one is lost, or its answer is. */
export const crashes = () => {
  let left = Infinity;
  let isLost = true;
  return {
    after: (writes: number, lost: boolean) => {
      left = writes;
      isLost = lost;
    },
    off: () => void (left = Infinity),
    write: async <T>(work: () => Promise<T>): Promise<T> => {
      if (left < 0) throw new Crash('dead');
      left -= 1;
      if (left >= 0) return work();
      if (!isLost) await work();
      throw new Crash('died at a write');
    },
  };
};

export type Crashes = ReturnType<typeof crashes>;
