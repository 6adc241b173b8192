import { wallClockMs } from '@cpg/platform';
import { findAnvil, setClock, startAnvil } from './anvil.ts';
import { mineBlocks, reorganize } from './transactions.ts';

test('starts a chain, answers calls, and ends', async () => {
  const node = await startAnvil({ chainId: 4242 });
  expect(await node.call('eth_chainId')).toBe('0x1092');
  await node.call('anvil_mine', '0x3');
  expect(await node.call('eth_blockNumber')).toBe('0x3');
  await node.stop();
  await expect(node.call('eth_chainId')).rejects.toThrow();
});

test('goes on at the time of this machine after a reorganization', async () => {
  const { call, stop } = await startAnvil();
  try {
    await setClock(call, () => wallClockMs() - 3_600_000);
    await mineBlocks(call);
    await setClock(call);
    await mineBlocks(call);
    await reorganize(call, 1);
    await mineBlocks(call);
    const { timestamp } = await call<{ timestamp: string }>('eth_getBlockByNumber', 'latest', false);
    expect(wallClockMs() / 1_000 - Number(timestamp)).toBeLessThan(60);
  } finally {
    await stop();
  }
});

test('reports why a node ended at its start', async () => {
  expect(findAnvil()).not.toBeNull();
  await expect(startAnvil({ moreArgs: ['--no-such-flag'] })).rejects.toThrow(/no-such-flag/);
});

test('refuses a port that is taken', async () => {
  const node = await startAnvil();
  try {
    await expect(startAnvil({ port: Number(new URL(node.url).port) })).rejects.toThrow(/port \d+ is taken/);
  } finally {
    await node.stop();
  }
});
