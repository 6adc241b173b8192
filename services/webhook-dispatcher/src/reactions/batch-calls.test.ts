import { batchCalls } from './batch-calls.ts';

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

test('batches the calls that arrive while a batch runs, in their order', async () => {
  const { given, pending, handle } = manual();
  const call = batchCalls(handle);
  const calls = [call(['a']), call(['b1', 'b2']), call(['c'])];
  expect(given).toEqual([['a']]);
  pending[0]!.go();
  await calls[0];
  await nextTurn();
  expect(given).toEqual([['a'], ['b1', 'b2', 'c']]);
  pending[1]!.go();
  await Promise.all(calls);
  const later = call(['d']);
  expect(given[2]).toEqual(['d']);
  pending[2]!.go();
  await later;
});

test('handles each call of a failed batch by itself', async () => {
  const { given, pending, handle } = manual();
  const call = batchCalls(handle);
  const outcomes = Promise.allSettled([call(['a']), call(['bad']), call(['c'])]);
  pending[0]!.go();
  await nextTurn();
  pending[1]!.fail(new Error('one of them'));
  await nextTurn();
  expect(given).toEqual([['a'], ['bad', 'c'], ['bad']]);
  pending[2]!.fail(new Error('that one'));
  await nextTurn();
  pending[3]!.go();
  expect(await outcomes).toEqual([
    { status: 'fulfilled', value: undefined },
    { status: 'rejected', reason: new Error('that one') },
    { status: 'fulfilled', value: undefined },
  ]);
  expect(given[3]).toEqual(['c']);
});
