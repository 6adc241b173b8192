import { createCredentialLoader, type CredentialWithMerchant } from './credentials.ts';

const credentialOf = (kid: string) => ({ kid }) as CredentialWithMerchant;

let queries: { kids: readonly string[]; answer: () => void; fail: () => void }[];
const loaderOf = (limits: { maxConcurrent?: number; maxBatch?: number } = {}) =>
  createCredentialLoader({
    ...limits,
    load: (kids) =>
      new Promise((resolve, reject) =>
        queries.push({
          kids,
          answer: () => resolve(kids.filter((kid) => kid.startsWith('known')).map(credentialOf)),
          fail: () => reject(new Error('unavailable')),
        }),
      ),
  });
beforeEach(() => {
  queries = [];
});

test('calls share the next query while the allowed number runs', async () => {
  const load = loaderOf({ maxConcurrent: 2 });
  const results = Promise.all(['known1', 'a', 'b', 'known2', 'b'].map(load));
  expect(queries.map(({ kids }) => kids)).toEqual([['known1'], ['a']]);
  queries[0]!.answer();
  await new Promise(setImmediate);
  expect(queries.slice(2).map(({ kids }) => kids)).toEqual([['b', 'known2']]);
  for (const { answer } of queries) answer();
  expect((await results).map((found) => found?.kid ?? null)).toEqual(['known1', null, null, 'known2', null]);
});

test('a query has a bounded number of keys', async () => {
  const load = loaderOf({ maxConcurrent: 1, maxBatch: 2 });
  const results = ['a', 'b', 'c', 'd'].map(load);
  for (let i = 0; i < 3; i++) {
    queries[i]!.answer();
    await new Promise(setImmediate);
  }
  expect(queries.map(({ kids }) => kids)).toEqual([['a'], ['b', 'c'], ['d']]);
  expect(await Promise.all(results)).toEqual([null, null, null, null]);
});

test('a failed query rejects its calls and not the next ones', async () => {
  const load = loaderOf({ maxConcurrent: 1 });
  const [first, second] = [load('a'), load('known')];
  queries[0]!.fail();
  await expect(first).rejects.toThrow('unavailable');
  queries[1]!.answer();
  expect(await second).toEqual({ kid: 'known' });
});
