import { chainFacts, readAssets } from '@cpg/assets';
import { chainKindOf } from './chain-kind.ts';

const NETWORKS = ['bitcoin', 'ethereum', 'base', 'polygon', 'arbitrum', 'bnb'];
const { networks, assets } = readAssets({ ENVIRONMENT: 'production', CAZ_DECIMALS: 18, NETWORKS });

test.each(networks)(
  'a reorganization of $name is followed until the largest payment is confirmed',
  ({ name, chainId }) => {
    const { windowBlocks, mostConfirmations } = chainKindOf(chainId);
    const tiers = assets
      .filter(({ network }) => network.name === name)
      .flatMap(({ requiredConfirmations, confirmationTiers }) => [
        requiredConfirmations,
        ...confirmationTiers.map(({ confirmations }) => confirmations),
      ]);
    expect(tiers.length).toBeGreaterThan(0);
    for (const confirmations of tiers) expect(confirmations).toBeLessThanOrEqual(mostConfirmations);
    expect(mostConfirmations).toBeLessThan(windowBlocks);
  },
);

test.each(networks)(
  '$name has a minute to mine a transfer again, and five to follow a reorganization',
  ({ name, chainId }) => {
    const { windowBlocks, graceBlocks, blocksAhead, pollMs } = chainKindOf(chainId);
    const { secondsPerBlock } = chainFacts(chainId, name);
    expect(graceBlocks * secondsPerBlock!).toBeGreaterThanOrEqual(60);
    expect(windowBlocks * secondsPerBlock!).toBeGreaterThanOrEqual(300);
    // One round fetches at once what a chain adds between two polls.
    expect(blocksAhead * secondsPerBlock! * 1_000).toBeGreaterThanOrEqual(pollMs);
  },
);

test('an EVM chain that this version does not know is read like Ethereum', () => {
  expect(chainKindOf('eip155:999999')).toEqual(chainKindOf('eip155:1'));
  expect(chainKindOf('eip155:999999', 700).pollMs).toBe(700);
});
