import { GroupCommit } from './group-commit.ts';

const groupsOf = (maxSize: number) => {
  const groups: number[][] = [];
  const commits = new GroupCommit<number, number>(
    async (items) => {
      groups.push(items);
      return items.map((item) => (item < 0 ? new Error(`refused ${item}`) : 2 * item));
    },
    () => 1,
    maxSize,
  );
  return { groups, commits };
};

test('items of one turn share a commit, up to the limit', async () => {
  const { groups, commits } = groupsOf(3);
  expect(await Promise.all([1, 2, 3, 4].map((item) => commits.submit(item)))).toEqual([2, 4, 6, 8]);
  expect(groups).toEqual([[1, 2, 3], [4]]);
});

test('items that are submitted during a commit form the next group', async () => {
  const { groups, commits } = groupsOf(10);
  const first = commits.submit(1).then(() => groups.length);
  await Promise.resolve();
  await Promise.resolve();
  await Promise.all([first, commits.submit(2), commits.submit(3)]);
  expect(groups).toEqual([[1], [2, 3]]);
});

test('an error of one item rejects that item alone', async () => {
  const { commits } = groupsOf(10);
  const [good, refused] = await Promise.allSettled([commits.submit(1), commits.submit(-1)]);
  expect(good).toMatchObject({ value: 2 });
  expect(refused).toMatchObject({ reason: { message: 'refused -1' } });
});

test('refuses what waits', async () => {
  const { groups, commits } = groupsOf(10);
  const waiting = commits.submit(1);
  commits.refuseWaiting();
  await expect(waiting).rejects.toThrow();
  expect(groups).toEqual([]);
  expect(await commits.submit(2)).toBe(4);
});
