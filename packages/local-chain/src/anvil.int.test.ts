import { findAnvil, startAnvil } from './anvil.ts';

test('starts a chain, answers calls, and ends', async () => {
  const node = await startAnvil({ chainId: 4242 });
  expect(await node.call('eth_chainId')).toBe('0x1092');
  await node.call('anvil_mine', '0x3');
  expect(await node.call('eth_blockNumber')).toBe('0x3');
  await node.stop();
  await expect(node.call('eth_chainId')).rejects.toThrow();
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
