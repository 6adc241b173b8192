import { simulatedChain } from '../../testing/jest-simulated-chain.ts';
import { chainProcesses, transferOf } from '../../testing/jest-chain-process.ts';
import { blocksAhead } from './blocks-ahead.ts';
import { type BlockRef, type ChainSource, ReorganizedError } from '../chain-source.ts';
import { watchedIn } from './watched-addresses.ts';

/** A source that counts the blocks that are fetched at once, and calls `onBlock` before each. */
const counted = (source: ChainSource, onBlock: (ref: BlockRef) => void = () => {}) => {
  const counts = { now: 0, most: 0, all: 0 };
  const block: ChainSource['block'] = async (ref, watched) => {
    onBlock(ref);
    counts.now += 1;
    counts.all += 1;
    counts.most = Math.max(counts.most, counts.now);
    await new Promise((resolve) => setImmediate(resolve));
    counts.now -= 1;
    return source.block(ref, watched);
  };
  return { counts, source: { ...source, block } };
};
const watched = { refresh: async () => watchedIn(new Set(['address-of-a'])) };

test.each([4, 16])('fetches %i blocks ahead, each once, up to the tip', async (count) => {
  const chain = simulatedChain();
  chain.mineMany(20);
  const { counts, source } = counted(chain.source);
  const blocks = blocksAhead(source, watched, 18, count);
  for (let height = 1; height <= 18; height += 1) {
    const ref = await blocks.at(height);
    expect(ref).toEqual(chain.refAt(height));
    expect(await blocks.block(ref!)).toMatchObject({ block: { ref }, watched: 1 });
  }
  expect(counts.all).toBe(18);
  expect(counts.most).toBeGreaterThan(count / 2);
  expect(counts.most).toBeLessThan(count + 2);
});

test('fetches a block again that left the chain while it waited', async () => {
  const chain = simulatedChain();
  chain.mineMany(5);
  const blocks = blocksAhead(chain.source, watched, 5, 4);
  await blocks.block(chain.refAt(1));
  const stale = await blocks.at(2);
  chain.drop(4);
  chain.mineMany(4);
  const ref = chain.refAt(2);
  expect(stale).not.toEqual(ref);
  expect((await blocks.block(ref)).block.ref).toEqual(ref);
});

test('reports what failed to the reader of that block alone', async () => {
  const chain = simulatedChain();
  chain.mineMany(3);
  const { source } = counted(chain.source, (ref) => {
    if (ref.height === 3) throw new ReorganizedError(ref);
  });
  const blocks = blocksAhead(source, watched, 3, 4);
  await blocks.block(chain.refAt(1));
  await blocks.block(chain.refAt(2));
  await expect(blocks.block(chain.refAt(3))).rejects.toThrow(ReorganizedError);
});

test('follows a reorganization in the middle of catch-up', async () => {
  const chain = simulatedChain();
  chain.mineMany(3);
  const { source } = counted(chain.source, ({ height }) => {
    if (height !== 12 || chain.height() !== 20) return;
    chain.drop(12);
    chain.mine(transferOf('a'));
    chain.mineMany(15);
  });
  const watching = chainProcesses({ ...chain, source });
  await watching.readOn();
  chain.mineMany(17);
  for (let round = 0; round < 3; round += 1) await watching.readOn();
  expect(watching.progress()).toMatchObject({ state: 'at_tip', height: chain.height() });
  expect(watching.paymentOf(transferOf('a'))).toMatchObject({ status: 'applied', block: chain.refAt(9) });
});
