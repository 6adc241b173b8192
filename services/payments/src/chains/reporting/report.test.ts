import { AppError } from '@cpg/contracts';
import type { Report, ReportFailure, SeenTransfer } from '../reading/seen-transfer.ts';
import { failureAfter, failureReasonOf, isRetryDue, isSameReport, reportOf } from './report.ts';

const NOW = new Date('2026-01-31T12:00:00.000Z');
const HOUR_MS = 3_600_000;
const before = (ms: number) => new Date(NOW.getTime() - ms);

/** In block 100, which two readings and two nodes showed. */
const transferWith = (changes: Partial<SeenTransfer> = {}): SeenTransfer => ({
  id: '0x1:0',
  txHash: '0x1',
  address: '0xa',
  asset: 'eip155:1/slip44:60',
  units: 1n,
  seenAt: before(HOUR_MS),
  block: { height: 100, hash: 'here' },
  lostHash: null,
  seen: { isShown: true, readings: 2, shownBy: [1, 2], missedBy: [] },
  lostAt: null,
  vanishedAt: null,
  conflictAt: null,
  replacedBy: null,
  required: null,
  reported: null,
  pending: null,
  failure: null,
  ...changes,
});
const seen = (changes: Partial<SeenTransfer['seen']>) => ({ ...transferWith().seen, ...changes });
const report = (status: Report['status'], block: string | null = 'here'): Report => ({ status, block });
/** Up to block 105, at the tip of a chain with a grace of 10 blocks. */
const READ = { height: 105, isAtTip: true, now: NOW, graceBlocks: 10 };
const NEEDS = { required: 6, quorum: 2 };

test.each<[string, Partial<SeenTransfer>, Partial<typeof NEEDS>, Report | null]>([
  ['with as many confirmations, readings and nodes as needed', {}, {}, report('confirmed')],
  ['with one confirmation too few', {}, { required: 7 }, report('received')],
  ['that one reading showed', { seen: seen({ readings: 1 }) }, {}, report('received')],
  ['that too few nodes showed', { seen: seen({ shownBy: [1] }) }, {}, report('received')],
  ['that the last readings did not show', { seen: seen({ isShown: false }) }, {}, report('received')],
  ['that was confirmed in this block', { reported: report('confirmed') }, { required: 9 }, report('confirmed')],
  [
    'that was confirmed in another block',
    { reported: report('confirmed', 'there') },
    { required: 9 },
    report('received'),
  ],
  ['whose confirmation is being made', { pending: report('confirmed') }, { required: 9 }, report('confirmed')],
  [
    'whose confirmation was begun, and that is not shown any more',
    { pending: report('confirmed'), seen: seen({ isShown: false }) },
    {},
    report('received'),
  ],
  [
    'that was confirmed here, and that is not shown any more',
    { reported: report('confirmed'), seen: seen({ isShown: false }) },
    {},
    report('confirmed'),
  ],
  ['that is no money', { reported: report('ignored') }, {}, report('ignored')],
  ['that payments refused', { reported: report('refused') }, {}, report('refused')],
  [
    'whose refusal is being stored',
    { reported: report('received'), pending: report('refused') },
    {},
    report('refused'),
  ],
  ['of which another amount was read once', { id: '0x1:0:corrected:1', seen: seen({ readings: 1 }) }, {}, null],
  [
    'of which another amount was read twice',
    { id: '0x1:0:corrected:1', seen: seen({ shownBy: [1] }) },
    {},
    report('received'),
  ],
  [
    'of which another amount is a payment already',
    { id: '0x1:0:corrected:1', seen: seen({ readings: 1 }), reported: report('received') },
    {},
    report('received'),
  ],
])('a mined transfer %s', (_, changes, needs, expected) => {
  expect(reportOf(transferWith(changes), READ, { ...NEEDS, ...needs })).toEqual(expected);
});

const FAILED = report('failed', null);
const RECEIVED = report('received', null);
const DAY_MS = 24 * HOUR_MS;

test.each<[string, Partial<SeenTransfer>, Partial<typeof READ>, Report | null]>([
  ['in the mempool', {}, {}, RECEIVED],
  ['that vanished before it was reported', { vanishedAt: NOW }, {}, null],
  ['that failed before', { reported: report('failed', null) }, {}, FAILED],
  [
    'that two readings did not show',
    { reported: report('confirmed'), seen: seen({ isShown: false, readings: 2 }) },
    {},
    FAILED,
  ],
  ['that one reading did not show', { reported: RECEIVED, seen: seen({ isShown: false, readings: 1 }) }, {}, RECEIVED],
  ['whose outputs a block spent deep enough', { reported: RECEIVED, conflictAt: 100 }, {}, FAILED],
  ['whose outputs a block spent just now', { reported: RECEIVED, conflictAt: 101 }, {}, RECEIVED],
  [
    'that was confirmed, within the grace of its chain',
    { reported: report('confirmed'), lostAt: 96 },
    {},
    report('confirmed', null),
  ],
  ['that was confirmed, after the grace of its chain', { reported: report('confirmed'), lostAt: 95 }, {}, FAILED],
  ['that was confirmed, and was never lost', { reported: report('confirmed') }, {}, report('confirmed', null)],
  ['gone for a day', { reported: RECEIVED, vanishedAt: before(DAY_MS) }, {}, FAILED],
  ['gone for a millisecond less than a day', { reported: RECEIVED, vanishedAt: before(DAY_MS - 1) }, {}, RECEIVED],
  [
    'gone for a day, by what was read before the tip',
    { reported: RECEIVED, vanishedAt: before(DAY_MS) },
    { isAtTip: false },
    RECEIVED,
  ],
  ['never gone', { reported: RECEIVED }, {}, RECEIVED],
])('a transfer without a block: %s', (_, changes, read, expected) => {
  expect(reportOf(transferWith({ block: null, ...changes }), { ...READ, ...read }, NEEDS)).toEqual(expected);
});

test.each<[ReturnType<typeof failureReasonOf>, Partial<SeenTransfer>]>([
  ['misread', { seen: seen({ isShown: false }), conflictAt: 1 }],
  ['double_spend', { conflictAt: 1, reported: report('confirmed') }],
  ['replaced', { conflictAt: 1, replacedBy: '0x2' }],
  ['reorg', { reported: report('confirmed') }],
  ['dropped', { reported: RECEIVED }],
  ['dropped', {}],
])('a payment fails with the reason %s', (reason, changes) => {
  expect(failureReasonOf(transferWith({ block: null, ...changes }))).toBe(reason);
});

test('reports are the same with the same status and block', () => {
  expect(isSameReport(report('received'), report('received'))).toBe(true);
  expect(isSameReport(null, null)).toBe(true);
  expect(isSameReport(report('received'), report('received', null))).toBe(false);
  expect(isSameReport(report('received'), report('confirmed'))).toBe(false);
  expect(isSameReport(report('received'), null)).toBe(false);
});

describe('a report that fails', () => {
  const failed = (error: unknown, attempts: number | null): ReportFailure =>
    failureAfter(
      attempts === null ? null : { attempts, firstAt: before(HOUR_MS), lastAt: before(1), retryAt: null, reason: 'x' },
      error,
      NOW,
    );
  const waitMs = ({ retryAt }: ReportFailure) => retryAt!.getTime() - NOW.getTime();
  const outage = new AppError('dependency_unavailable', 'away');
  const unknown = new AppError('outcome_unknown', 'no answer');

  test.each<[unknown, number | null, number]>([
    [new Error('a bug'), null, 5_000],
    [new Error('a bug'), 1, 10_000],
    [new Error('a bug'), 5, 160_000],
    [new Error('a bug'), 6, 300_000],
    [new Error('a bug'), 5_000, 300_000],
    [outage, 2, 20_000],
    [outage, 3, 30_000],
    [unknown, 3, 40_000],
  ])('after %s and %s attempts waits %i ms', (error, attempts, expected) => {
    expect(waitMs(failed(error, attempts))).toBe(expected);
  });

  test('counts its attempts from the first one', () => {
    expect(failed(outage, null)).toMatchObject({ attempts: 1, firstAt: NOW, lastAt: NOW });
    expect(failed(outage, 4)).toMatchObject({ attempts: 5, firstAt: before(HOUR_MS), lastAt: NOW });
  });

  test.each<[unknown, string]>([
    [outage, 'dependency_unavailable: away'],
    [new TypeError('a \0 bug'), 'TypeError: a  bug'],
    ['text', 'text'],
    [new Error('x'.repeat(1_000)), `Error: ${'x'.repeat(493)}`],
  ])('keeps the reason of %s', (error, reason) => expect(failed(error, null).reason).toBe(reason));

  test.each([
    [-1, true],
    [0, true],
    [1, false],
    [300_000, false],
    // From before the clock was set back.
    [300_001, true],
  ])('is due %i ms before its next attempt: %s', (ms, expected) => {
    expect(isRetryDue(new Date(NOW.getTime() + ms), NOW)).toBe(expected);
  });
});
