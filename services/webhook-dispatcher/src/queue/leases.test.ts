import { createLeaseChanges } from './leases.ts';

// The callback of `createLeaseChanges` releases leases that are in the database alone: of a change whose commit
// succeeded although its answer was lost.

test('runs changes one at a time, in the order of their requests', async () => {
  const seen: string[] = [];
  const { exclusively } = createLeaseChanges(async () => {});
  const change = (name: string) =>
    exclusively(async () => {
      seen.push(`${name} starts`);
      await new Promise((done) => setImmediate(done));
      seen.push(`${name} ends`);
    });
  await Promise.all([change('a'), change('b')]);
  expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
});

test('after a failed change, releases leases that only the database knows, until the release succeeds', async () => {
  const seen: string[] = [];
  let faults = 1;
  const { exclusively, reconcile } = createLeaseChanges(async () => {
    seen.push('release');
    if (faults-- > 0) throw new Error('still unavailable');
  });
  await expect(exclusively(() => Promise.reject(new Error('commit lost')))).rejects.toThrow('commit lost');
  await expect(reconcile()).rejects.toThrow('still unavailable');
  await exclusively(async () => void seen.push('change'));
  await reconcile();
  expect(seen).toEqual(['release', 'release', 'change']);
});

test('releases leases that only the database knows at intervals, also when no change fails', async () => {
  const releasesEvery = async (everyMs: number) => {
    let releases = 0;
    const { reconcile } = createLeaseChanges(async () => void (releases += 1), everyMs);
    await reconcile();
    return releases;
  };
  expect(await releasesEvery(0)).toBe(1);
  expect(await releasesEvery(600_000)).toBe(0);
});
