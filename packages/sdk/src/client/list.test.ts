import { clientWith, json, refusal } from './testing/jest-gateway.ts';

const page = (ids: string[], next?: string) =>
  json(200, { items: ids.map((id) => ({ id })), ...(next !== undefined && { next_cursor: next }) });

test('`for await` reads every item of every page with the same filters', async () => {
  const { client, sent } = clientWith([page(['a', 'b'], 'c1'), page(['c'], 'c2'), page(['d'])]);
  const ids: string[] = [];
  for await (const { id } of client.listOrders({ status: ['paid'], sort: 'asc' })) ids.push(id);
  expect(ids).toEqual(['a', 'b', 'c', 'd']);
  expect(sent.map(({ path }) => path)).toEqual([
    '/v1/orders?status=paid&sort=asc&limit=100',
    '/v1/orders?status=paid&sort=asc&limit=100&cursor=c1',
    '/v1/orders?status=paid&sort=asc&limit=100&cursor=c2',
  ]);
});

test('`await` reads one page', async () => {
  const { client, sent } = clientWith([page(['a', 'b'], 'c1')]);
  const { items, next_cursor } = await client.listOrders({ limit: 2 });
  expect([items.map(({ id }) => id), next_cursor]).toEqual([['a', 'b'], 'c1']);
  expect(sent.map(({ path }) => path)).toEqual(['/v1/orders?limit=2']);
});

test('a loop that ends early asks for no further page', async () => {
  const { client, sent } = clientWith([page(['a', 'b'], 'c1')]);
  for await (const { id } of client.listOrders()) if (id === 'b') break;
  expect(sent).toHaveLength(1);
});

test('goes on after an interruption with the page that was not read to its end', async () => {
  const { client, sent } = clientWith([
    page(['a', 'b'], 'c1'),
    page(['c', 'd'], 'c2'),
    refusal(401, 'unauthorized'),
    page(['e']),
  ]);
  const list = client.listOrders({ sort: 'asc' });
  const ids: string[] = [];
  const read = async (orders: AsyncIterable<{ id: string }>) => {
    for await (const { id } of orders) ids.push(id);
  };
  await expect(read(list)).rejects.toThrow('refused: unauthorized');
  expect(list.cursor).toBe('c2');
  await read(client.listOrders({ sort: 'asc', ...(list.cursor !== undefined && { cursor: list.cursor }) }));
  expect(ids).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(sent.at(-1)!.path).toBe('/v1/orders?sort=asc&cursor=c2&limit=100');
});

test('the cursor stays at a page until its last item was handled', async () => {
  const { client } = clientWith([page(['a'], 'c1'), page(['b', 'c'], 'c2')]);
  const list = client.listOrders();
  const cursors: (string | undefined)[] = [];
  for await (const { id } of list) {
    cursors.push(list.cursor);
    if (id === 'c') break;
  }
  expect(cursors).toEqual([undefined, 'c1', 'c1']);
});

test('`pages` gives each page with its next cursor, and replaces the page number by it', async () => {
  const { client, sent } = clientWith([page(['a'], 'c1'), page(['b'])]);
  const cursors: (string | undefined)[] = [];
  for await (const { next_cursor } of client.listOrders({ page: 3, limit: 1 }).pages()) cursors.push(next_cursor);
  expect(cursors).toEqual(['c1', undefined]);
  expect(sent.map(({ path }) => path)).toEqual(['/v1/orders?page=3&limit=1', '/v1/orders?limit=1&cursor=c1']);
});
