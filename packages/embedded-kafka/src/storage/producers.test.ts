import { parseBatch } from '../records/batch.ts';
import { batchOf } from '../testing/batches.ts';
import { type ProducerState, checkSequence, withStoredBatch } from './producers.ts';

const batch = (sequence: number, count = 1, epoch = 0) =>
  parseBatch(
    batchOf(
      Array.from({ length: count }, () => 'x'),
      { producerId: 1, epoch, sequence },
    ),
    1_000_000,
  );

/** The state after batches of one record each, at offsets that equal their sequences. */
const after = (...sequences: number[]) =>
  sequences.reduce<ProducerState | undefined>(
    (state, sequence) => withStoredBatch(state, batch(sequence), sequence),
    undefined,
  );

test('a producer without state may start anywhere', () => {
  expect(checkSequence(undefined, batch(17))).toBeNull();
});

test('the next sequence is new, an earlier one is known, a later one a gap', () => {
  const state = after(0, 1, 2);
  expect(checkSequence(state, batch(3))).toBeNull();
  expect(checkSequence(state, batch(1))).toMatchObject({ baseOffset: 1 });
  expect(() => checkSequence(state, batch(4))).toThrow('sequence 4 came where 3 was due');
});

test('a batch with the same start but another end is not the same', () => {
  expect(() => checkSequence(after(0, 1), batch(1, 2))).toThrow();
});

test('five batches are remembered', () => {
  const state = after(0, 1, 2, 3, 4, 5);
  expect(checkSequence(state, batch(1))).toMatchObject({ baseOffset: 1 });
  expect(() => checkSequence(state, batch(0))).toThrow();
});

test('after the largest sequence comes 0, also within a batch', () => {
  const largest = 0x7fffffff;
  expect(checkSequence(after(largest), batch(0))).toBeNull();
  const across = withStoredBatch(undefined, batch(largest - 1, 4), 0);
  expect(across.batches[0]).toMatchObject({ baseSequence: largest - 1, lastSequence: 1 });
  expect(checkSequence(across, batch(2))).toBeNull();
});

test('a new epoch starts at 0 and ends the old one', () => {
  const state = after(0, 1);
  expect(() => checkSequence(state, batch(2, 1, 1))).toThrow();
  expect(checkSequence(state, batch(0, 1, 1))).toBeNull();
  const next = withStoredBatch(state, batch(0, 1, 1), 2);
  expect(() => checkSequence(next, batch(2))).toThrow('epoch 0 was replaced by 1');
  expect(next.batches).toHaveLength(1);
});

test('a producer whose transaction ended before it sent anything starts at 0', () => {
  const ended: ProducerState = { epoch: 1, batches: [] };
  expect(checkSequence(ended, batch(0, 1, 1))).toBeNull();
  expect(() => checkSequence(ended, batch(1, 1, 1))).toThrow('sequence 1 came where 0 was due');
  expect(() => checkSequence(ended, batch(0, 1, 0))).toThrow('epoch 0 was replaced by 1');
});
