import type { Asset } from '@cpg/assets';
import { USDC } from '../../testing/jest-chain-process.ts';
import { quorumOf } from '../watch-chains.ts';

const tiered: Asset = { ...USDC, confirmationTiers: [{ fromMinor: 1_000_000_000n, confirmations: 20 }] };
const small = { asset: USDC.id, units: 999_999_999n };
const large = { asset: USDC.id, units: 1_000_000_000n };

test('two nodes must show amounts that need more confirmations, where there are two', () => {
  const quorum = quorumOf([tiered], { quorum: undefined, nodes: 2 });
  expect([small, large].map(quorum)).toEqual([1, 2]);
  expect(quorumOf([tiered], { quorum: undefined, nodes: 1 })(large)).toBe(1);
  expect(quorumOf([USDC], { quorum: undefined, nodes: 2 })(large)).toBe(1);
  expect(quorum({ ...large, asset: 'unknown' })).toBe(1);
});

test('a configured quorum counts for every amount', () =>
  expect([small, large].map(quorumOf([tiered], { quorum: 3, nodes: 3 }))).toEqual([3, 3]));
