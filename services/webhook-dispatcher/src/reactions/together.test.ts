import { together } from './together.ts';

/** A handler that goes on when it is told to, and what it was given. */
const slow = () => {
  const given: string[][] = [];
  const pending: { go: () => void; fail: (error: Error) => void }[] = [];
  const handle = (items: readonly string[]) =>
    new Promise<void>((go, fail) => {
      given.push([...items]);
      pending.push({ go, fail });
    });
  return { given, pending, handle };
};

const turn = () => new Promise((done) => setImmediate(done));

test('what comes while it is at work is handled in one go afterwards, each call in its order', async () => {
  const { given, pending, handle } = slow();
  const call = together(handle);
  const calls = [call(['a']), call(['b1', 'b2']), call(['c'])];
  expect(given).toEqual([['a']]);
  pending[0]!.go();
  await calls[0];
  await turn();
  expect(given).toEqual([['a'], ['b1', 'b2', 'c']]);
  pending[1]!.go();
  await Promise.all(calls);
  const later = call(['d']);
  expect(given[2]).toEqual(['d']);
  pending[2]!.go();
  await later;
});

test('of calls that fail together each is tried by itself, and fails or not by itself', async () => {
  const { given, pending, handle } = slow();
  const call = together(handle);
  const outcomes = Promise.allSettled([call(['a']), call(['bad']), call(['c'])]);
  pending[0]!.go();
  await turn();
  pending[1]!.fail(new Error('one of them'));
  await turn();
  expect(given).toEqual([['a'], ['bad', 'c'], ['bad']]);
  pending[2]!.fail(new Error('that one'));
  await turn();
  pending[3]!.go();
  expect(await outcomes).toEqual([
    { status: 'fulfilled', value: undefined },
    { status: 'rejected', reason: new Error('that one') },
    { status: 'fulfilled', value: undefined },
  ]);
  expect(given[3]).toEqual(['c']);
});
