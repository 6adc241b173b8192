import { EventEmitter, once } from 'node:events';
import type { Pool } from '@cpg/platform/postgres';
import { box, type Dispatchers, dispatchers } from '../testing/jest-dispatchers.ts';
import { createDirectory } from './directory.ts';

let system: Dispatchers;
beforeEach(async () => {
  system = await dispatchers();
});
afterEach(() => system.close());

const enable = (id: string) => system.pool.query('update gateway.webhooks set is_enabled = true where id = $1', [id]);

test('a late answer of the database does not replace the webhooks of a newer version', async () => {
  const { id, merchantId } = await system.webhook('http://127.0.0.1:1', { isEnabled: false });
  const answers = new EventEmitter();
  let isSlow = true;
  const pool = system.pool as { query: (...args: unknown[]) => Promise<unknown> };
  const query = async (...args: unknown[]) => {
    const slow = isSlow;
    const answer = await pool.query(...args);
    if (slow) {
      answers.emit('answered');
      await once(answers, 'arrives');
    }
    return answer;
  };
  const directory = createDirectory({ pool: { query } as unknown as Pool, box, now: () => new Date() });
  const isEnabled = async () => (await directory.ofMerchants([merchantId])).get(merchantId)!.webhooks[0]!.isEnabled;

  const loading = directory.load([id]);
  await once(answers, 'answered');
  isSlow = false;
  await enable(id);
  expect(await isEnabled()).toBe(true);
  answers.emit('arrives');
  await loading;
  expect(directory.get(id)).toMatchObject({ isEnabled: false });
  expect(await isEnabled()).toBe(true);
});

test('a webhook whose URL cannot be parsed hides no other one', async () => {
  const directory = createDirectory({ pool: system.pool, box, now: () => new Date() });
  const [bad, good] = [await system.webhook('http://127.0.0.1:1/'), await system.webhook('http://127.0.0.1:1/good')];
  await system.pool.query("update gateway.webhooks set url = 'no url' where id = $1", [bad.id]);
  await directory.load([bad.id, good.id]);
  expect(directory.get(good.id)?.url.pathname).toBe('/good');
  expect(() => directory.get(bad.id)?.url).toThrow('Invalid URL');
  const found = await directory.ofMerchants([bad.merchantId, good.merchantId]);
  expect(found.get(good.merchantId)!.webhooks).toHaveLength(1);
});

test('evicts webhooks over its capacity', async () => {
  const directory = createDirectory({ pool: system.pool, box, now: () => new Date(), capacity: 2 });
  const made = [];
  for (let i = 0; i < 3; i++) made.push(await system.webhook(`http://127.0.0.1:1/${i}`));
  const merchants = made.map(({ merchantId }) => merchantId);
  const found = await directory.ofMerchants(merchants);
  expect(merchants.map((id) => found.get(id)!.webhooks.map(({ url }) => url.pathname))).toEqual([
    ['/0'],
    ['/1'],
    ['/2'],
  ]);
  expect(made.map(({ id }) => directory.get(id)?.url.pathname)).toEqual([undefined, '/1', '/2']);
  expect([...(await directory.ofMerchants(merchants)).keys()].sort()).toEqual([...merchants].sort());
});
