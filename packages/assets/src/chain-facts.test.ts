import { chainFacts, isMainnet } from './chain-facts.ts';
import { readAssets } from './read-assets.ts';

const PRODUCTION = ['bitcoin', 'ethereum', 'base', 'polygon', 'arbitrum', 'bnb'];

test.each(['sandbox', 'production'] as const)('knows the chains of the %s', (ENVIRONMENT) => {
  const NETWORKS = ENVIRONMENT === 'production' ? PRODUCTION : undefined;
  for (const { chainId, name } of readAssets({ ENVIRONMENT, CAZ_DECIMALS: 18, NETWORKS }).networks) {
    const { title, isTestnet, secondsPerBlock } = chainFacts(chainId, name);
    expect(title).not.toBe(name);
    expect(isTestnet).toBe(ENVIRONMENT === 'sandbox');
    expect(isMainnet(chainId)).toBe(!isTestnet);
    expect(secondsPerBlock).toBeGreaterThan(0);
  }
});

test('calls an unknown chain by the name of its network, and claims nothing about it', () => {
  expect(chainFacts('eip155:999999', 'our-chain')).toEqual({
    title: 'our-chain',
    isTestnet: false,
    secondsPerBlock: null,
  });
  expect(isMainnet('eip155:999999')).toBeNull();
});
