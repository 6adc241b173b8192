import { transferOf } from '../../testing/jest-chain-process.ts';
import { type Block, correctedId, type Transfer } from '../chain-source.ts';
import { compareReadings, type Finding, readBlock } from './recheck.ts';
import { isTakenOut, type SeenTransfer } from './seen-transfer.ts';

const ref = { height: 7, hash: 'block-7' };
const now = new Date('2026-01-31T12:00:00.000Z');
const a = transferOf('a');
const larger = { ...a, units: 1_000n * a.units };
const call = { ...transferOf('call'), id: 'call:native1' };

const scope = { addresses: new Set([a.address, call.address]), assets: new Set([a.asset]) };

const by = (node: number, transfers: readonly Transfer[], changes: Partial<Block> = {}): Block => ({
  ref,
  parent: 'block-6',
  time: now,
  transfers,
  nodes: [node],
  isProven: false,
  isTraced: true,
  ...changes,
});

/** The transfers after readings of one block, and what the readings found. `missed`: a node left out a transfer.
 *  `misread`: it showed a transfer that the block does not have. */
const after = (first: Block, ...later: Block[]) => {
  let known: SeenTransfer[] = [];
  const findings: Finding[] = [];
  for (const [n, block] of [first, ...later].entries()) {
    const reading = readBlock(known, block, { scope, firstNodes: n === 0 ? null : first.nodes, now });
    const ids = new Set(reading.changed.map(({ id }) => id));
    known = [...known.filter(({ id }) => !ids.has(id)), ...reading.changed];
    findings.push(...reading.findings);
  }
  return {
    known,
    of: (id: string) => known.find((each) => each.id === id),
    found: findings.map(({ kind, transfer, nodes }) => [kind, transfer.id, nodes]),
  };
};

test('two readings that show a transfer agree on it', () => {
  const { of, found } = after(by(1, [a]), by(2, [a]));
  expect(of(a.id)).toMatchObject({ block: ref, seen: { isShown: true, readings: 2, shownBy: [1, 2], missedBy: [] } });
  expect(found).toEqual([]);
});

test('a transfer that the first reading left out needs one more reading, and its node is named', () => {
  const once = after(by(1, []), by(2, [a]));
  expect(once.of(a.id)).toMatchObject({
    block: ref,
    seen: { isShown: true, readings: 1, shownBy: [2], missedBy: [1] },
  });
  expect(once.found).toEqual([]);
  const { of, found } = after(by(1, []), by(2, [a]), by(1, [a]));
  expect(of(a.id)!.seen).toEqual({ isShown: true, readings: 2, shownBy: [1, 2], missedBy: [1] });
  expect(found).toEqual([['missed', a.id, [1]]]);
});

test('a transfer that one reading leaves out stays in its block', () => {
  const { of, found } = after(by(1, [a]), by(1, []), by(1, [a]), by(1, [a]));
  expect(of(a.id)).toMatchObject({ block: ref, seen: { isShown: true, readings: 2 } });
  expect(found).toEqual([['missed', a.id, [1]]]);
});

test('a transfer that two later readings do not show is taken out of its block', () => {
  const { of, found } = after(by(1, [a]), by(2, []), by(1, []));
  expect(of(a.id)).toMatchObject({ block: null, lostHash: ref.hash, vanishedAt: now });
  expect(isTakenOut(of(a.id)!)).toBe(true);
  expect(found).toEqual([['misread', a.id, [1]]]);
});

test('another amount becomes a transfer of its own, and takes the place of the first one', () => {
  const id = correctedId(a);
  const once = after(by(1, [larger]), by(2, [a]));
  expect(once.known.map(({ block }) => block)).toEqual([ref, ref]);
  const { of, found } = after(by(1, [larger]), by(2, [a]), by(3, [a]));
  expect(of(id)).toMatchObject({ id, units: a.units, block: ref, seen: { readings: 2, shownBy: [2, 3] } });
  expect(isTakenOut(of(a.id)!)).toBe(true);
  expect(of(a.id)!.units).toBe(larger.units);
  expect(found).toEqual([
    ['missed', id, [1]],
    ['misread', a.id, [1]],
  ]);
});

test('a proven later reading decides at once, but not on calls inside transactions', () => {
  const proven = by(2, [a], { isProven: true });
  const { of } = after(by(1, [larger, call]), proven);
  expect(of(correctedId(a))!.seen.readings).toBe(2);
  expect(isTakenOut(of(a.id)!)).toBe(true);
  expect(of(call.id)).toMatchObject({ block: ref, seen: { isShown: false, readings: 1 } });
});

test('a first reading decides nothing, proven or not', () => {
  expect(after(by(1, [a], { isProven: true })).of(a.id)!.seen.readings).toBe(1);
});

test('a reading without traces says nothing about calls inside transactions', () => {
  const { of } = after(by(1, [call, a]), by(2, [], { isTraced: false }), by(2, [], { isTraced: false }));
  expect(of(call.id)).toMatchObject({ block: ref, seen: { isShown: true, readings: 1, missedBy: [] } });
  expect(isTakenOut(of(a.id)!)).toBe(true);
});

test('a rescan without traces keeps the calls that an earlier reading of the same block showed', () => {
  // `lostAt` is a height: the chain was read up to it when the block was reorganized away.
  const lost = { ...after(by(1, [call]), by(1, [call])).known[0]!, block: null, lostHash: ref.hash, lostAt: 9 };
  const { changed } = readBlock([lost], by(2, [], { isTraced: false }), { scope, firstNodes: null, now });
  expect(changed).toMatchObject([{ id: call.id, block: ref, lostHash: null, lostAt: null, seen: lost.seen }]);
});

test.each([
  ['an address that is not watched any more', { ...scope, addresses: new Set([call.address]) }],
  ['an asset that was removed', { ...scope, assets: new Set<string>() }],
])('a reading says nothing about %s', (_, later) => {
  const [known] = after(by(1, [a]), by(1, [a])).known;
  const options = { scope: later, firstNodes: null, now };
  expect(readBlock([known!], by(1, [], { isProven: true }), options).changed).toEqual([]);
  const lost = { ...known!, block: null, lostHash: ref.hash, lostAt: 9 };
  expect(readBlock([lost], by(1, [], { isProven: true }), options)).toMatchObject({
    changed: [{ id: a.id, block: ref, seen: known!.seen }],
    differing: [],
    findings: [],
  });
});

test('compares a reading with known transfers for an operator, and changes nothing', () => {
  const { known } = after(by(1, [larger, call]), by(1, [larger, call]));
  const { shown, missing } = compareReadings(known, by(2, [a, transferOf('b')]), scope);
  expect(shown.map(({ transfer, known: earlier }) => [transfer.id, earlier])).toEqual([
    [correctedId(a), undefined],
    ['b:0', undefined],
  ]);
  expect(missing.map(({ id }) => id)).toEqual([a.id, call.id]);
});
