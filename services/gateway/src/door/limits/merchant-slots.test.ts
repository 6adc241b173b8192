import { createMerchantSlots } from './merchant-slots.ts';

test('runs a bounded number per merchant, and the others in order of arrival', async () => {
  const slots = createMerchantSlots({ maxRunning: 2, maxWaiting: 2 });
  const started: number[] = [];
  const acquire = (number: number) =>
    slots.acquire('a')?.then((free) => {
      started.push(number);
      return free;
    });
  const [first, second, third, fourth, fifth] = [1, 2, 3, 4, 5].map(acquire);
  const frees = await Promise.all([first!, second!]);
  expect({ started, fifth }).toEqual({ started: [1, 2], fifth: undefined });
  expect(await slots.acquire('b')).toBeInstanceOf(Function);
  frees[1]();
  (await third!)();
  await fourth;
  expect(started).toEqual([1, 2, 3, 4]);
});

test('has all slots again when every request has ended', async () => {
  const slots = createMerchantSlots({ maxRunning: 1, maxWaiting: 0 });
  for (let i = 0; i < 3; i++) {
    const free = await slots.acquire('a');
    expect(slots.acquire('a')).toBeNull();
    free!();
  }
});

test('shares all slots between merchants: a free one goes to the merchant with the fewest', async () => {
  const slots = createMerchantSlots({ maxRunning: 4, maxTotal: 5 });
  const running: string[] = [];
  const frees: (() => void)[] = [];
  const acquire = (merchant: string) =>
    void slots.acquire(merchant)!.then((free) => {
      running.push(merchant);
      frees.push(free);
    });
  for (const merchant of ['a', 'a', 'a', 'a', 'a', 'b', 'b', 'b', 'c', 'd']) acquire(merchant);
  const freeFirst = async () => {
    frees.shift()!();
    await new Promise(setImmediate);
  };
  await new Promise(setImmediate);
  expect(running).toEqual(['a', 'a', 'a', 'a', 'b']);
  for (let n = 0; n < 5; n += 1) await freeFirst();
  expect(running.slice(5, 7)).toEqual(['c', 'd']);
  expect(running.slice(7).sort()).toEqual(['a', 'b', 'b']);
});

test('a slot that gets free leaves the others of its merchant taken', async () => {
  const slots = createMerchantSlots({ maxRunning: 2, maxWaiting: 0 });
  const [free] = [await slots.acquire('a')!, await slots.acquire('a')!];
  free();
  expect(await slots.acquire('a')).toBeInstanceOf(Function);
  expect(slots.acquire('a')).toBeNull();
});
