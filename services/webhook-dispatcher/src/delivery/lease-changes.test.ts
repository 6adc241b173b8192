import { createLeaseChanges } from './lease-changes.ts';

test('changes are made one at a time, in the order in which they came', async () => {
  const seen: string[] = [];
  const { exclusively } = createLeaseChanges(async () => {});
  const change = (name: string) =>
    exclusively(async () => {
      seen.push(`${name} begins`);
      await new Promise((done) => setImmediate(done));
      seen.push(`${name} ends`);
    });
  await Promise.all([change('a'), change('b')]);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
});

test('after a change that failed strays are given back before the next, until that has worked', async () => {
  const seen: string[] = [];
  let faults = 1;
  const { exclusively, settle } = createLeaseChanges(async () => {
    seen.push('strays');
    if (faults-- > 0) throw new Error('still away');
  });
  await expect(exclusively(() => Promise.reject(new Error('commit lost')))).rejects.toThrow('commit lost');
  await expect(settle()).rejects.toThrow('still away');
  await exclusively(async () => void seen.push('change'));
  await settle();
  expect(seen).toEqual(['strays', 'strays', 'change']);
});

test('strays are looked for every so often, though no change failed', async () => {
  const looksEvery = async (everyMs: number) => {
    let looks = 0;
    const { settle } = createLeaseChanges(async () => void (looks += 1), everyMs);
    await settle();
    return looks;
  };
  expect(await looksEvery(0)).toBe(1);
  expect(await looksEvery(600_000)).toBe(0);
});
