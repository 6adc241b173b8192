import { type Client, ConnectionError } from '@cpg/sdk';
import { lookUp } from './look-up.ts';
import { memoryStore } from './testing/jest-store.ts';

const DATE = 'Sat, 31 Jan 2026 12:10:00 GMT';
const order = (id: string, shop = 'b2c') => ({
  id,
  status: 'paid',
  metadata: { shop },
  payments: [],
  total_amount: '1',
  remaining_amount: '0',
});

const setUp = (pages: (object[] | Error)[], mark?: string) => {
  const queries: object[] = [];
  const handled: string[] = [];
  const listOrders = async (query: object) => {
    const items = pages[queries.length];
    queries.push(query);
    if (items instanceof Error) throw items;
    const next_cursor = queries.length < pages.length ? `c${queries.length}` : undefined;
    return { data: { items, next_cursor }, response: new Response(null, { headers: { date: DATE } }) };
  };
  const store = memoryStore(new Map(mark === undefined ? [] : [['looked-up-to', mark]]));
  const options = {
    client: { raw: { listOrders } } as unknown as Client,
    store,
    shop: 'b2c',
    now: () => new Date(0),
    onOrder: async ({ id }: { id: string }) => void handled.push(id),
  };
  return { queries, handled, options, mark: () => store.rows.get('looked-up-to') };
};

test('hands over every order of the shop that changed since the mark, and moves the mark', async () => {
  const { options, queries, handled, mark } = setUp(
    [[order('1'), order('2', 'b2b')], [order('3')]],
    '2026-01-31T11:00:00.000Z',
  );
  expect(await lookUp(options)).toEqual({ ok: true, value: { handled: 2, failures: [] } });
  expect(handled).toEqual(['1', '3']);
  const filter = { metadata: 'shop=b2c', updated_from: '2026-01-31T11:00:00.000Z' };
  expect(queries).toEqual([expect.objectContaining(filter), expect.objectContaining({ ...filter, cursor: 'c1' })]);
  // Five minutes before the first answer: the list can be behind.
  expect(mark()).toBe('2026-01-31T12:05:00.000Z');
});

test('looks up all orders of the shop without a mark', async () => {
  const { options, queries } = setUp([[]]);
  await lookUp(options);
  expect(queries[0]).not.toHaveProperty('updated_from');
});

test('the mark stays if an order fails, and the others are handed over', async () => {
  const { options, mark } = setUp([[order('1'), order('2')]], '2026-01-31T11:00:00.000Z');
  const handled: string[] = [];
  const onOrder = async ({ id }: { id: string }) => {
    if (id === '1') throw new Error('no stock');
    handled.push(id);
  };
  const found = await lookUp({ ...options, onOrder });
  expect(found).toMatchObject({ ok: true, value: { handled: 1, failures: [expect.stringContaining('no stock')] } });
  expect(handled).toEqual(['2']);
  expect(mark()).toBe('2026-01-31T11:00:00.000Z');
});

test('the mark stays if the gateway is lost between two pages', async () => {
  const lost = new ConnectionError('network', 'reset', { cause: undefined, key: undefined });
  const { options, handled, mark } = setUp([[order('1')], lost], '2026-01-31T11:00:00.000Z');
  expect(await lookUp(options)).toMatchObject({ ok: false, fault: { kind: 'unreachable' } });
  expect(handled).toEqual(['1']);
  expect(mark()).toBe('2026-01-31T11:00:00.000Z');
});

test('the mark never moves back', async () => {
  const { options, mark } = setUp([[]], '2026-01-31T12:09:00.000Z');
  await lookUp(options);
  expect(mark()).toBe('2026-01-31T12:09:00.000Z');
});
