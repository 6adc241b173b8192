import Fastify from 'fastify';
import { addLocations } from '../../door/responses/headers.ts';
import { addPageLinks } from './page-links.ts';

let payload: object;
const app = Fastify();
app.decorateRequest('seed', '01KG9Q');
addLocations(app);
addPageLinks(app);
app.get('/v1/orders', async () => payload);
app.post('/v1/orders', { config: { creates: '/v1/orders/ord_{seed}' } }, async (_, reply) =>
  reply.code(201).send(payload),
);

afterAll(() => app.close());

const linksOf = async (url: string, answer: object): Promise<Record<string, string>> => {
  payload = answer;
  const { link } = (await app.inject(url)).headers;
  const links = [...String(link ?? '').matchAll(/<([^<>]+)>; rel="(\w+)"/g)];
  return Object.fromEntries(links.map(([, target, rel]) => [rel!, target!]));
};
const page = (number: number, totalPages: number) => ({ items: [], page: number, totalPages });

test('a page in the middle links to all others, with the same filters', async () => {
  expect(
    await linksOf('/v1/orders?status=paid&limit=5&from_date=2026-01-31T12:00:00%2B00:00&page=2', page(2, 4)),
  ).toEqual({
    first: '/v1/orders?status=paid&limit=5&from_date=2026-01-31T12%3A00%3A00%2B00%3A00&page=1',
    prev: '/v1/orders?status=paid&limit=5&from_date=2026-01-31T12%3A00%3A00%2B00%3A00&page=1',
    next: '/v1/orders?status=paid&limit=5&from_date=2026-01-31T12%3A00%3A00%2B00%3A00&page=3',
    last: '/v1/orders?status=paid&limit=5&from_date=2026-01-31T12%3A00%3A00%2B00%3A00&page=4',
  });
});

test.each<[string, object, string[]]>([
  ['the only page', page(1, 1), ['first', 'last']],
  ['the first page', page(1, 2), ['first', 'next', 'last']],
  ['the last page', page(2, 2), ['first', 'prev', 'last']],
  ['an empty list', page(1, 0), ['first']],
  ['a page of an empty list', page(3, 0), ['first']],
  ['the last page that can be read', page(1000, 2000), ['first', 'prev']],
  ['a page of a longer list', page(1, 2000), ['first', 'next']],
  ['the last page of a history', { items: [] }, []],
  ['something else', { id: 'ord_1', page: 1, totalPages: 1 }, []],
])('%s has its links', async (_, answer, rels) => {
  expect(Object.keys(await linksOf('/v1/orders', answer))).toEqual(rels);
});

test('a list that was requested without a page links to its next page by a cursor', async () => {
  const first = { ...page(1, 3), next_cursor: 'abc' };
  expect(await linksOf('/v1/orders?status=paid', first)).toEqual({
    first: '/v1/orders?status=paid&page=1',
    next: '/v1/orders?status=paid&cursor=abc',
    last: '/v1/orders?status=paid&page=3',
  });
  expect(await linksOf('/v1/orders?cursor=abc&status=paid', { ...first, next_cursor: 'def' })).toEqual({
    first: '/v1/orders?status=paid&page=1',
    next: '/v1/orders?cursor=def&status=paid',
  });
  expect(await linksOf('/v1/orders?cursor=def', page(1, 3))).toEqual({ first: '/v1/orders?page=1' });
});

test('a requested page links to the next number, and to a cursor behind the last number', async () => {
  expect((await linksOf('/v1/orders?page=1', { ...page(1, 3), next_cursor: 'abc' })).next).toBe('/v1/orders?page=2');
  expect((await linksOf('/v1/orders?page=1000', { ...page(1000, 2000), next_cursor: 'abc' })).next).toBe(
    '/v1/orders?cursor=abc',
  );
});

test('a page past the end links back to the last page', async () => {
  expect((await linksOf('/v1/orders?page=9', page(9, 4))).prev).toBe('/v1/orders?page=4');
});

test('a history links to its next page', async () => {
  expect(await linksOf('/v1/orders?limit=2&cursor=x', { items: [], next_cursor: 'abc' })).toEqual({
    next: '/v1/orders?limit=2&cursor=abc',
  });
});

test('a created resource has a location', async () => {
  payload = { id: 'ord_01KG9Q' };
  expect((await app.inject({ method: 'POST', url: '/v1/orders' })).headers.location).toBe('/v1/orders/ord_01KG9Q');
});
