import fc from 'fast-check';
import type { Transfer } from '../chains/chain-source.ts';
import { type ChainProcesses, KIND, transferOf } from './jest-chain-process.ts';
import { Crash, type Lie, type SimulatedChain } from './jest-simulated-chain.ts';

// Two transfers spend the same output, and two pay the same address.
export const MONEY: readonly Transfer[] = [
  transferOf('a', { spends: ['x:0'] }),
  transferOf('b', { spends: ['x:0'], units: 3n }),
  transferOf('c', { spends: ['y:0'], address: 'address-of-d' }),
  transferOf('d', { spends: ['z:0'] }),
];
export const REQUIRED = 2;

export type Step = (chain: SimulatedChain, watching: ChainProcesses) => unknown;

/** Mines a transfer unless the chain has it, or its output is spent. */
const mine = (chain: SimulatedChain, wanted: readonly Transfer[]): void => {
  const block: Transfer[] = [];
  for (const transfer of wanted) {
    const onChain = [...chain.transfers(), ...block];
    const isSpent = onChain.some(({ spends }) => spends!.some((output) => transfer.spends!.includes(output)));
    if (!isSpent) block.push(transfer);
  }
  chain.mine(...block);
};

const tryToRead = async (watching: ChainProcesses): Promise<void> => {
  try {
    await watching.readOn();
  } catch (error) {
    if (!(error instanceof Crash) && !/moved meanwhile/.test((error as Error).message)) throw error;
  }
};

const someMoney = fc.subarray([...MONEY]);
/** What can happen to a chain and to the processes that watch it. */
export const steps: fc.Arbitrary<Step> = fc.oneof(
  someMoney.map(
    (money): Step =>
      (chain) =>
        mine(chain, money),
  ),
  someMoney.map(
    (money): Step =>
      (chain) =>
        chain.setPool(money),
  ),
  fc
    .tuple(fc.integer({ min: 1, max: 5 }), fc.array(someMoney, { maxLength: 4 }))
    .map(([depth, blocks]): Step => (chain) => {
      // A reorganization never shortens the chain below its window, so that its depth is known.
      chain.drop(depth);
      for (const money of blocks) mine(chain, money);
      while (chain.height() < 12) chain.mine();
    }),
  fc.constant<Step>((_, watching) => tryToRead(watching)),
  fc.constant<Step>((_, watching) => watching.restart()),
  fc.integer({ min: 1, max: 40 }).map(
    (hours): Step =>
      (_, watching) =>
        watching.passHours(hours),
  ),
  fc.integer({ min: 0, max: 3 }).map(
    (missing): Step =>
      (chain) =>
        chain.setMissing(missing),
  ),
  fc.tuple(fc.integer({ min: 0, max: 12 }), fc.boolean()).map(([writes, isLost]): Step => async (_, watching) => {
    watching.crash.after(writes, isLost);
    await tryToRead(watching);
    watching.crash.off();
    watching.restart();
  }),
);

/** Gives every payment the time to reach its final status. */
export const settle = async (chain: SimulatedChain, watching: ChainProcesses): Promise<void> => {
  chain.setMissing(0);
  chain.setPool([]);
  // Beyond the height that was read before a reorganization, and the grace.
  chain.mineMany(40 + KIND.graceBlocks + REQUIRED);
  watching.passHours(1);
  await watching.readOn();
  watching.passHours(25);
  await watching.readOn();
};

const lies: fc.Arbitrary<Lie> = fc.oneof(
  fc.constant<Lie>(() => []),
  fc.constant<Lie>((transfers) => transfers.slice(1)),
  fc.constant<Lie>((transfers) => transfers.map((transfer) => ({ ...transfer, units: 1_000n * transfer.units }))),
  fc.constant<Lie>((transfers) => transfers.map((transfer) => ({ ...transfer, address: 'address-of-another' }))),
  fc.constant<Lie>((transfers, { ref }) => [...transfers, transferOf(`invented-${ref.hash}`)]),
);

/** A lie in one of the first readings of each block. The other readings correct it. */
export const anyLie: fc.Arbitrary<() => Lie> = fc
  .array(fc.tuple(fc.integer({ min: 1, max: 4 }), lies), { minLength: 1, maxLength: 5 })
  .map((choices) => () => {
    const readings = new Map<string, number>();
    return (transfers, about) => {
      const { ref } = about;
      const reading = (readings.get(ref.hash) ?? 0) + 1;
      readings.set(ref.hash, reading);
      const [falseReading, lie] = choices[ref.height % choices.length]!;
      return reading === falseReading ? lie(transfers, about) : transfers;
    };
  });
