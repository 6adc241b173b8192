import { Progress } from './progress.ts';

const after = (steps: (progress: Progress) => void): [bigint, number] => {
  const progress = new Progress(4n);
  steps(progress);
  return [progress.done, progress.doneCount];
};

test('it begins where it was told to', () => expect(after(() => {})).toEqual([4n, 0]));

test('what is open holds it back, in whatever order the rest is finished', () => {
  const progress = new Progress(4n);
  for (const place of [5n, 7n, 9n]) progress.open(place);
  expect([progress.done, progress.seen]).toEqual([4n, 9n]);
  progress.finish(7n);
  expect([progress.done, progress.doneCount]).toEqual([4n, 0]);
  progress.finish(5n);
  expect([progress.done, progress.doneCount]).toEqual([8n, 2]);
  progress.finish(9n);
  expect([progress.done, progress.doneCount]).toEqual([9n, 3]);
});

test('what is passed counts as finished, behind what is open', () => {
  expect(after((progress) => progress.pass(8n))).toEqual([8n, 1]);
  expect(
    after((progress) => {
      progress.open(5n);
      progress.pass(8n);
    }),
  ).toEqual([4n, 0]);
});
