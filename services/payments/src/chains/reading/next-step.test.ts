import fc from 'fast-check';
import type { BlockRef } from '../chain-source.ts';
import { type NextStep, nextStep } from './next-step.ts';

const ref = (height: number, branch = 'a'): BlockRef => ({ height, hash: `${branch}${height}` });
const window = [ref(7), ref(8), ref(9)];
const step = (answers: Record<number, string | null>) =>
  nextStep(window, new Map(Object.entries(answers).map(([height, hash]) => [Number(height), hash])));

test('asks for the block after the cursor, and reads it', () => {
  expect(step({})).toEqual({ kind: 'ask', height: 10 });
  expect(step({ 10: 'a10' })).toEqual({ kind: 'read', ref: ref(10) });
});

test('waits at the tip', () => {
  expect(step({ 10: null })).toEqual({ kind: 'ask', height: 9 });
  expect(step({ 10: null, 9: 'a9' })).toEqual({ kind: 'wait', isBehind: false });
});

test('waits for a node that does not have the blocks yet', () => {
  expect(step({ 10: null, 9: null })).toEqual({ kind: 'wait', isBehind: true });
  expect(step({ 10: null, 9: null, 8: 'a8' })).toEqual({ kind: 'wait', isBehind: true });
  expect(step({ 10: null, 9: null, 3: 'a3' })).toEqual({ kind: 'wait', isBehind: true });
});

test('unwinds to the last common block on another hash', () => {
  expect(step({ 10: 'b10', 9: 'b9' })).toEqual({ kind: 'ask', height: 8 });
  expect(step({ 10: 'b10', 9: 'b9', 8: 'a8' })).toEqual({ kind: 'unwind', to: ref(8) });
  expect(step({ 10: null, 9: null, 8: 'b8', 7: 'a7' })).toEqual({ kind: 'unwind', to: ref(7) });
});

test('halts when no known block is common', () => {
  expect(step({ 10: 'b10', 9: 'b9', 8: 'b8', 7: 'b7' })).toEqual({ kind: 'halt' });
});

const answer = fc.oneof(fc.constant(null), fc.constant('a'), fc.constant('b'));

test('never unwinds without a conflict, and never to a block that the source does not have', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('7', '8', '9', '10'), answer), (branches) => {
      const answers = Object.fromEntries(
        Object.entries(branches).map(([height, branch]) => [height, branch && `${branch}${height}`]),
      );
      const next: NextStep = step(answers);
      const conflicts = window.filter(({ height, hash }) => answers[height] && answers[height] !== hash);
      if (next.kind === 'unwind') {
        expect(answers[next.to.height]).toBe(next.to.hash);
        expect(conflicts.some(({ height }) => height > next.to.height)).toBe(true);
      }
      if (next.kind === 'halt') expect(conflicts).not.toEqual([]);
      if (next.kind === 'ask') expect(answers).not.toHaveProperty(String(next.height));
    }),
  );
});
