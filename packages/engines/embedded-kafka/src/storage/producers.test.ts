import { parseBatch } from '../records/batch.ts';
import { NO_LIMITS, batchOf } from '../testing/batches.ts';
import { type ProducerState, checkSequence, withStoredBatch } from './producers.ts';

const batch = (sequence: number, count = 1, epoch = 0) =>
  parseBatch(
    batchOf(
      Array.from({ length: count }, () => 'x'),
      { producerId: 1, epoch, sequence },
    ),
    NO_LIMITS,
  );

/** The state after batches of one record each. Their offsets equal their sequences. */
const after = (...sequences: number[]) =>
  sequences.reduce<ProducerState | undefined>(
    (state, sequence) => withStoredBatch(state, batch(sequence), sequence),
    undefined,
  );

test('a producer without state may start at any sequence', () => {
  expect(checkSequence(undefined, batch(17))).toBeNull();
});

test('the next sequence is new, an earlier one is a duplicate, a later one is a gap', () => {
  const state = after(0, 1, 2);
  expect(checkSequence(state, batch(3))).toBeNull();
  expect(checkSequence(state, batch(1))).toMatchObject({ baseOffset: 1 });
  expect(() => checkSequence(state, batch(4))).toThrow('expected sequence 3, got 4');
});

test('a batch with the same first but another last sequence is not a duplicate', () => {
  expect(() => checkSequence(after(0, 1), batch(1, 2))).toThrow();
});

test('duplicates of the last five batches are recognised', () => {
  const state = after(0, 1, 2, 3, 4, 5);
  expect(checkSequence(state, batch(1))).toMatchObject({ baseOffset: 1 });
  expect(() => checkSequence(state, batch(0))).toThrow();
});

test('sequences wrap around to 0, also within a batch', () => {
  const largest = 0x7fffffff;
  expect(checkSequence(after(largest), batch(0))).toBeNull();
  const across = withStoredBatch(undefined, batch(largest - 1, 4), 0);
  expect(across.batches[0]).toMatchObject({ baseSequence: largest - 1, lastSequence: 1 });
  expect(checkSequence(across, batch(2))).toBeNull();
});

test('a new epoch starts at sequence 0 and fences the old one', () => {
  const state = after(0, 1);
  expect(() => checkSequence(state, batch(2, 1, 1))).toThrow();
  expect(checkSequence(state, batch(0, 1, 1))).toBeNull();
  const next = withStoredBatch(state, batch(0, 1, 1), 2);
  expect(() => checkSequence(next, batch(2))).toThrow('producer epoch 0 was replaced by 1');
  expect(next.batches).toHaveLength(1);
});

test('a producer whose transaction ended without a batch starts at sequence 0', () => {
  const ended: ProducerState = { epoch: 1, batches: [] };
  expect(checkSequence(ended, batch(0, 1, 1))).toBeNull();
  expect(() => checkSequence(ended, batch(1, 1, 1))).toThrow('expected sequence 0, got 1');
  expect(() => checkSequence(ended, batch(0, 1, 0))).toThrow('producer epoch 0 was replaced by 1');
});
