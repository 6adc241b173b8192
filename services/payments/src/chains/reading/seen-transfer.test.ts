import { transferOf } from '../../testing/jest-chain-process.ts';
import {
  confirmationsOf,
  isAgreed,
  isOpen,
  isTakenOut,
  mined,
  pooled,
  type Report,
  type SeenTransfer,
  stillIn,
  unmined,
} from './seen-transfer.ts';

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

const NOW = new Date('2026-01-31T13:00:00.000Z');
const BLOCK = { ref: { height: 100, hash: 'here' }, time: TIME };
const mine = (changes: Partial<SeenTransfer> = {}): SeenTransfer => ({
  ...mined(transferOf('a'), BLOCK, SEEN, undefined, NOW),
  ...changes,
});

test.each([
  [{ isShown: true, readings: 2, shownBy: [1], missedBy: [] }, 1, true],
  [{ isShown: true, readings: 1, shownBy: [1], missedBy: [] }, 1, false],
  [{ isShown: false, readings: 2, shownBy: [1], missedBy: [] }, 1, false],
  [{ isShown: true, readings: 2, shownBy: [1], missedBy: [] }, 2, false],
  [{ isShown: true, readings: 3, shownBy: [1, 2], missedBy: [3] }, 2, true],
])('readings %j agree for a quorum of %i: %s', (seen, quorum, expected) =>
  expect(isAgreed(seen, quorum)).toBe(expected),
);

test.each([
  [null, false, 2, true],
  [BLOCK.ref, false, 2, false],
  [null, true, 2, false],
  [null, false, 1, false],
])('a transfer in block %j, shown %s by %i readings, is taken out: %s', (block, isShown, readings, expected) =>
  expect(isTakenOut({ block, seen: { ...SEEN, isShown, readings } })).toBe(expected),
);

test.each([
  [99, 0],
  [98, 0],
  [100, 1],
  [105, 6],
])('a chain read to block %i has confirmed block 100 %i times', (height, confirmations) => {
  expect(confirmationsOf(mine(), height)).toBe(confirmations);
  expect(confirmationsOf(mine({ block: null }), height)).toBe(0);
});

const here = (status: Report['status']): Report => ({ status, block: 'here' });
test.each<[boolean, string, Partial<SeenTransfer>]>([
  [true, 'mined and not reported', {}],
  [true, 'in the mempool and not reported', { block: null }],
  [false, 'vanished before it was reported', { block: null, vanishedAt: NOW }],
  [true, 'received', { reported: here('received') }],
  [false, 'confirmed in its block', { reported: here('confirmed') }],
  [true, 'confirmed in another block', { reported: { status: 'confirmed', block: 'there' } }],
  [true, 'confirmed, and lost its block', { block: null, reported: here('confirmed') }],
  [false, 'failed', { block: null, reported: here('failed') }],
  [true, 'failed, and mined again', { reported: here('failed') }],
  [false, 'ignored', { reported: here('ignored') }],
  [false, 'refused', { reported: here('refused') }],
  [true, 'being reported', { reported: here('refused'), pending: here('refused') }],
  [
    true,
    'in a block whose last reading did not show it',
    { reported: here('confirmed'), seen: { ...SEEN, isShown: false } },
  ],
  [false, 'out of its block, and failed', { block: null, reported: here('failed'), seen: { ...SEEN, isShown: false } }],
])('open is %s: %s', (expected, _, changes) => expect(isOpen(mine(changes))).toBe(expected));

test('a transfer keeps the hash of the block that it lost, and when', () => {
  const lost = unmined(mine(), 105, NOW);
  expect(lost).toMatchObject({ block: null, lostHash: 'here', lostAt: 105, vanishedAt: NOW });
  expect(unmined(lost, 107, NOW)).toMatchObject({ lostHash: 'here', lostAt: 107 });
});

test('a transfer that is mined again forgets its loss, and keeps its reports and its first time', () => {
  const known = mine({ ...unmined(mine(), 105, NOW), conflictAt: 7, replacedBy: '0x2', reported: here('received') });
  const later = { ref: { height: 106, hash: 'there' }, time: NOW };
  const again = mined(transferOf('a'), later, SEEN, known, NOW);
  expect(again).toMatchObject({
    block: later.ref,
    lostHash: null,
    lostAt: null,
    vanishedAt: null,
    conflictAt: null,
    replacedBy: null,
    reported: here('received'),
    seenAt: known.seenAt,
  });
  expect(stillIn(known, BLOCK.ref, { ...SEEN, readings: 2 })).toMatchObject({
    block: BLOCK.ref,
    lostHash: null,
    vanishedAt: null,
    seen: { readings: 2 },
    reported: here('received'),
  });
});

test('a transfer in the mempool is seen now, unless it is known', () => {
  expect(pooled(transferOf('a'), undefined, NOW)).toMatchObject({
    seenAt: NOW,
    block: null,
    vanishedAt: null,
    seen: { isShown: true, readings: 0, shownBy: [] },
    reported: null,
  });
  const known = unmined(mine(), 105, NOW);
  expect(pooled(transferOf('a', { units: 9n }), known, NOW)).toEqual({ ...known, vanishedAt: null });
});
