import { setClock } from './anvil.ts';

test('sets the time again when a second ends before anvil has taken it', async () => {
  const times = [9_999, 10_001, 10_001, 10_002];
  const set: unknown[] = [];
  await setClock(
    async <T>(_: string, seconds: unknown) => set.push(seconds) as T,
    () => times.shift()!,
  );
  expect(set).toEqual([9, 10]);
});
