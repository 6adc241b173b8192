import { batchCalls } from './deliver-events.ts';

/** A handler whose calls end when the test says so. */
const manual = () => {
  const given: string[][] = [];
  const pending: { go: () => void; fail: (error: Error) => void }[] = [];
  const handle = (items: readonly string[]) =>
    new Promise<void>((go, fail) => {
      given.push([...items]);
      pending.push({ go, fail });
    });
  return { given, pending, handle };
};

const nextTurn = () => new Promise((done) => setImmediate(done));

test('batches the calls that are made together, and those that arrive while a batch runs, in their order', async () => {
  const { given, pending, handle } = manual();
  const call = batchCalls(handle);
  const settled = Promise.resolve();
  const together = [call(['a']), call(['b1', 'b2']), settled.then(() => call(['c']))];
  await nextTurn();
  expect(given).toEqual([['a', 'b1', 'b2', 'c']]);
  const meanwhile = [call(['d']), call(['e'])];
  pending[0]!.go();
  await Promise.all(together);
  await nextTurn();
  expect(given[1]).toEqual(['d', 'e']);
  pending[1]!.go();
  await Promise.all(meanwhile);
  const later = call(['f']);
  await nextTurn();
  expect(given[2]).toEqual(['f']);
  pending[2]!.go();
  await later;
});

test('handles at most 1,000 items together, or a single call', async () => {
  const sizes: number[] = [];
  const call = batchCalls(async (items: readonly number[]) => void sizes.push(items.length));
  const callsOf = (lengths: readonly number[]) => lengths.map((length) => call(Array.from({ length }, () => 0)));
  await Promise.all(callsOf([400, 600, 1, 1_001, 999, 2]));
  expect(sizes).toEqual([1_000, 1, 1_001, 999, 2]);
});

test('handles each call of a failed batch by itself', async () => {
  const { given, pending, handle } = manual();
  const call = batchCalls(handle);
  const outcomes = Promise.allSettled([call(['a']), call(['bad']), call(['c'])]);
  await nextTurn();
  pending[0]!.fail(new Error('one of them'));
  await nextTurn();
  pending[1]!.go();
  await nextTurn();
  pending[2]!.fail(new Error('that one'));
  await nextTurn();
  pending[3]!.go();
  expect(await outcomes).toEqual([
    { status: 'fulfilled', value: undefined },
    { status: 'rejected', reason: new Error('that one') },
    { status: 'fulfilled', value: undefined },
  ]);
  expect(given).toEqual([['a', 'bad', 'c'], ['a'], ['bad'], ['c']]);
});
