import {
  type Block,
  type BlockRef,
  type ChainSource,
  type ChainTip,
  isInsideCall,
  ReorganizedError,
  onlyToWatched,
  type Transfer,
} from '../chains/chain-source.ts';

interface SimulatedBlock {
  readonly hash: string;
  readonly time: Date;
  readonly transfers: readonly Transfer[];
}

export type SimulatedChain = ReturnType<typeof simulatedChain>;

const HOUR_ZERO = Date.parse('2026-01-31T12:00:00.000Z');

/** What a node shows of a block instead of its transfers. `reading` counts the readings of all blocks, from 1 on. */
export type Lie = (
  transfers: readonly Transfer[],
  about: { readonly node: number; readonly ref: BlockRef; readonly reading: number },
) => readonly Transfer[];

const honest: Lie = (transfers) => transfers;

/** A chain in memory whose blocks are a minute apart, and the nodes that serve it. Each block is read from one node. */
export const simulatedChain = ({ name = 'main', hasMempool = true, nodes = 1, isProven = false } = {}) => {
  let blocks: SimulatedBlock[] = [];
  let mined = 0;
  let pool: readonly Transfer[] = [];
  /** The node does not know the last blocks. */
  let missing = 0;
  let failure: Error | null = null;
  let shown: Partial<ChainTip> = {};
  let lie = honest;
  let readings = 0;
  let silent: readonly number[] = [];
  let untraced: readonly number[] = [];
  let balances: ChainSource['balances'];
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
  const nodeFor = (not: readonly number[]): number => {
    const answering = Array.from({ length: nodes }, (_, index) => index + 1).filter((node) => !silent.includes(node));
    return answering.find((node) => !not.includes(node)) ?? answering[0]!;
  };
  const source: ChainSource = {
    verify: answer(() => {}),
    tip: answer(() => ({ ...refAt(tipHeight()), isNewest: true, stalled: null, ...shown })),
    at: (height) => answer(() => (height <= tipHeight() ? refAt(height) : null))(),
    block: (ref, watched, { not = [] } = {}) =>
      answer(async (): Promise<Block> => {
        const block = blocks[ref.height];
        if (block?.hash !== ref.hash || ref.height > tipHeight()) throw new ReorganizedError(ref);
        const spenders = spendersOf(block);
        const { time } = block;
        const parent = blocks[ref.height - 1]!.hash;
        readings += 1;
        const node = nodeFor(not);
        const isTraced = !untraced.includes(node);
        const shown = lie(block.transfers, { node, ref, reading: readings });
        const transfers = (await onlyToWatched(shown, watched)).filter((each) => isTraced || !isInsideCall(each));
        return {
          ref,
          parent,
          time,
          transfers,
          spent: (output) => spenders.get(output),
          nodes: [node],
          isProven: isProven && shown === block.transfers,
          isTraced,
        };
      })(),
    balances: async (...asked) => (await balances?.(...asked)) ?? null,
    ...(hasMempool && {
      mempool: (watched) => answer(() => onlyToWatched(pool, watched))(),
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
    /** What the nodes show beside the tip, for example that they are frozen. */
    setShown: (changes: Partial<ChainTip>) => void (shown = changes),
    /** Nodes lie from now on; null ends that. */
    setLie: (next: Lie | null) => void (lie = next ?? honest),
    readings: () => readings,
    /** Nodes that do not answer. */
    setSilent: (numbers: readonly number[]) => void (silent = numbers),
    /** Nodes without traces. */
    setUntraced: (numbers: readonly number[]) => void (untraced = numbers),
    setBalances: (next: ChainSource['balances']) => void (balances = next),
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
