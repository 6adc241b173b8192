import { transferOf } from '../../testing/jest-chain-process.ts';
import { mined } from './seen-transfer.ts';

const TIME = new Date('2026-01-31T12:00:00.000Z');
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const SEEN = { isShown: true, readings: 1, shownBy: [1], missedBy: [] };

/** Milliseconds from the time of the block to that at which its transfer counts as seen. */
const seenAfterMs = (chain: string, aheadMs: number): number => {
  const transfer = transferOf('a', { asset: `${chain}/slip44:0` });
  const block = { ref: { height: 1, hash: '0x1' }, time: TIME };
  return mined(transfer, block, SEEN, undefined, new Date(TIME.getTime() + aheadMs)).seenAt.getTime() - TIME.getTime();
};

test('a transfer counts as seen at the time of its block, and no later than now', () => {
  expect(seenAfterMs('eip155:1', 10 * MINUTE_MS)).toBe(0);
  expect(seenAfterMs('eip155:1', -5 * SECOND_MS)).toBe(-5 * SECOND_MS);
  expect(seenAfterMs('bip122:000000000019d6689c085ae165831e93', -90 * MINUTE_MS)).toBe(-90 * MINUTE_MS);
});

test('a clock that is further behind than a block can be ahead does not count', () => {
  expect(seenAfterMs('eip155:1', -10 * MINUTE_MS)).toBe(-15 * SECOND_MS);
  expect(seenAfterMs('bip122:000000000019d6689c085ae165831e93', -600 * MINUTE_MS)).toBe(-120 * MINUTE_MS);
});
