import fc from 'fast-check';
import { Crash, memoryStore } from '../testing/jest-store.ts';
import { webhooksInMemory } from '../testing/jest-webhooks.ts';
import { registerWebhook, storedWebhook } from './registration.ts';

const SHOP = { shop: 'b2c', url: 'https://shop.example/hook' };

const check = async (gateway: ReturnType<typeof webhooksInMemory>, rows: Map<string, string>) => {
  const [webhook, ...others] = [...gateway.webhooks.values()];
  expect(others).toEqual([]);
  expect(webhook).toMatchObject({ url: SHOP.url, filter: { shop: 'b2c' }, label: 'Shop b2c', is_enabled: true });
  expect(await storedWebhook(memoryStore(rows))).toMatchObject({ id: webhook!.id, secret: `whsec_${webhook!.id}` });
};

test('registers one webhook, and leaves it as it is afterwards', async () => {
  const gateway = webhooksInMemory();
  const store = memoryStore();
  const first = await registerWebhook({ ...SHOP, ...gateway, store });
  await check(gateway, store.rows);
  expect(await registerWebhook({ ...SHOP, ...gateway, store })).toEqual(first);
  await check(gateway, store.rows);
});

test('a process that dies at any place leaves one webhook to the next', async () => {
  let hasDied = true;
  let deaths = 0;
  for (; hasDied; deaths += 1) {
    let left = deaths;
    const step = async () => {
      if (left === 0) throw new Crash();
      left -= 1;
    };
    const rows = new Map<string, string>();
    const gateway = webhooksInMemory(step);
    const dying = registerWebhook({ ...SHOP, client: gateway.client, store: memoryStore(rows, step) });
    hasDied = await dying.then(
      () => false,
      (error) => error instanceof Crash,
    );
    left = Number.POSITIVE_INFINITY;
    await registerWebhook({ ...SHOP, client: gateway.client, store: memoryStore(rows) });
    await check(gateway, rows);
  }
  expect(deaths).toBeGreaterThan(10);
});

test('several processes at once make one webhook', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const step = () => scheduler.schedule(Promise.resolve());
      const rows = new Map<string, string>();
      const gateway = webhooksInMemory(step);
      const running = Promise.all(
        [1, 2, 3].map(() => registerWebhook({ ...SHOP, client: gateway.client, store: memoryStore(rows, step) })),
      );
      const outcomes = await scheduler.waitFor(running);
      expect(new Set(outcomes.map((outcome) => outcome.ok && outcome.value.id)).size).toBe(1);
      await check(gateway, rows);
    }),
    { numRuns: 50 },
  );
});

test('a creation whose answer was lost for more than a day is made again, and its webhook is deleted', async () => {
  const gateway = webhooksInMemory();
  const store = memoryStore();
  await registerWebhook({ ...SHOP, ...gateway, store });
  const created = store.rows.get('webhook')!;
  // The first answer was never stored.
  store.rows.set('webhook', JSON.stringify({ step: 'creating', key: 'lost', body: { url: SHOP.url } }));
  gateway.forgetKeys();
  await registerWebhook({ ...SHOP, ...gateway, store });
  expect(store.rows.get('webhook')).not.toBe(created);
  await check(gateway, store.rows);
});

test('a webhook that was deleted or disabled at the gateway works again', async () => {
  const gateway = webhooksInMemory();
  const store = memoryStore();
  await registerWebhook({ ...SHOP, ...gateway, store });
  const { id } = (await storedWebhook(store))!;
  await gateway.client.updateWebhook(id, { is_enabled: false, filter: null });
  await registerWebhook({ ...SHOP, ...gateway, store });
  await check(gateway, store.rows);
  await gateway.client.deleteWebhook(id);
  await registerWebhook({ ...SHOP, ...gateway, store });
  await check(gateway, store.rows);
});

test('a shop with a new address gets a new webhook, and the webhooks of others stay', async () => {
  const gateway = webhooksInMemory();
  const store = memoryStore();
  await registerWebhook({ ...SHOP, ...gateway, store });
  await registerWebhook({ ...SHOP, shop: 'b2b', client: gateway.client, store: memoryStore() });
  const moves: string[] = [];
  const onMove = (from: string) => void moves.push(from);
  const moved = { ...SHOP, url: 'https://new.example/hook', client: gateway.client, store, onMove };
  await registerWebhook(moved);
  await registerWebhook(moved);
  expect(moves).toEqual([SHOP.url]);
  expect([...gateway.webhooks.values()].map(({ url, filter }) => [url, filter?.shop])).toEqual([
    [SHOP.url, 'b2c'],
    [SHOP.url, 'b2b'],
    ['https://new.example/hook', 'b2c'],
  ]);
});
