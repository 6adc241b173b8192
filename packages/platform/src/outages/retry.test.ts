import { retry } from './retry.ts';

const failing = (times: number) => {
  let calls = 0;
  return {
    calls: () => calls,
    work: async () => {
      calls += 1;
      if (calls <= times) throw new Error(`failure ${calls}`);
      return calls;
    },
  };
};

test('retries until the work succeeds, and reports every failure', async () => {
  const { work } = failing(3);
  const reported: string[] = [];
  const onError = (error: unknown, attempt: number) => void reported.push(`${attempt}: ${(error as Error).message}`);
  await expect(retry(work, { firstMs: 1, onError })).resolves.toBe(4);
  expect(reported).toEqual(['1: failure 1', '2: failure 2', '3: failure 3']);
});

test('stops when onError throws', async () => {
  const { work, calls } = failing(9);
  const onError = (error: unknown, attempt: number) => {
    if (attempt === 2) throw error;
  };
  await expect(retry(work, { firstMs: 1, onError })).rejects.toThrow('failure 2');
  expect(calls()).toBe(2);
});

test('an abort ends the wait at once and prevents further attempts', async () => {
  const { work, calls } = failing(9);
  const stopping = new AbortController();
  const retrying = retry(work, { signal: stopping.signal, firstMs: 60_000, maxMs: 60_000 });
  setTimeout(() => stopping.abort(), 10);
  await expect(retrying).rejects.toThrow('abort');
  expect(calls()).toBe(1);
  await expect(retry(work, { signal: stopping.signal })).rejects.toThrow('abort');
  expect(calls()).toBe(1);
});
