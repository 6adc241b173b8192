import { samplePayloadOf } from '@cpg/contracts';
import { newUlid } from '@cpg/platform';
import { ulid } from 'ulid';
import type { Scope } from '../../door/keys/api-key.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderOf, projectOrder } from '../../testing/jest-resources.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

const EVENTS = ['order:paid', 'payment:applied'];
const DAY = '2026-01-31';
const payload = samplePayloadOf('payment:applied');

let gateway: TestGateway;
let shop: TestMerchant;
let other: TestMerchant;
let webhook: string;

beforeAll(async () => {
  gateway = await startGateway();
  other = await gateway.merchant();
  for (const table of ['events', 'deliveries', 'attempts'])
    await gateway.pool.query(`create table webhooks.${table}_20260131 partition of webhooks.${table}
      for values from ('${DAY}') to ('2026-02-01')`);
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  webhook = await createWebhook();
  gateway.dispatcher.calls.length = 0;
  gateway.dispatcher.respond = () => ({ status: 204 });
});

const createWebhook = async () =>
  (await shop.send('POST', '/v1/webhooks', { url: 'https://shop.example/hooks', events: EVENTS })).body.id as string;

/** Inserts a delivery into the dispatcher's tables, with its body unless `body` is null. */
const record = async (
  more: { status?: string; type?: string; at?: string; of?: string; order?: string; body?: unknown } = {},
) => {
  const { status = 'delivered', type = 'payment:applied', at = `${DAY}T12:00:00.000Z`, of = webhook } = more;
  const [id, event] = [`dlv_${ulid(Date.parse(at))}`, `evt_${newUlid()}`];
  await gateway.pool.query(
    `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, status, attempts, created_at)
     values ($1, $2, $3, $4, $5, $6, 2, $7)`,
    [DAY, event, of, id, type, status, at],
  );
  if (more.body !== null)
    await gateway.pool.query(
      `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body)
       values ($1, $2, $3, $7, $4, $5, '1', $6)`,
      [DAY, event, shop.id, type, at, JSON.stringify(payload), more.order ?? 'ord_1'],
    );
  return { id, event };
};
const list = async (query = '') => (await shop.send('GET', `/v1/webhooks/${webhook}/deliveries${query}`)).body;

test('returns a delivery with its payload and attempts, oldest first', async () => {
  const { id, event } = await record({ status: 'failed' });
  for (const [number, outcome, code, error] of [
    [2, 'refused', 500, null],
    [1, 'timed_out', null, 'the attempt took too long'],
  ] as const)
    await gateway.pool.query(
      `insert into webhooks.attempts (day, delivery_id, number, started_at, duration_ms, outcome, status_code, error, response)
       values ($1, $2, $3, $4, 12, $5, $6, $7, $8)`,
      [DAY, id, number, `${DAY}T12:0${number}:00Z`, outcome, code, error, code && 'down'],
    );
  const { status, body } = await shop.send('GET', `/v1/webhooks/${webhook}/deliveries/${id}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    id,
    webhook_id: webhook,
    event_id: event,
    event_type: 'payment:applied',
    status: 'failed',
    attempt_count: 2,
    created_at: `${DAY}T12:00:00.000Z`,
    attempts: [
      {
        number: 1,
        outcome: 'timed_out',
        started_at: `${DAY}T12:01:00.000Z`,
        duration_ms: 12,
        error: 'the attempt took too long',
      },
      {
        number: 2,
        outcome: 'refused',
        started_at: `${DAY}T12:02:00.000Z`,
        duration_ms: 12,
        status_code: 500,
        response: 'down',
      },
    ],
    payload,
  });
});

test('returns the attempts of a delivery by page, each once', async () => {
  const { id } = await record();
  await gateway.pool.query(
    `insert into webhooks.attempts (day, delivery_id, number, started_at, duration_ms, outcome)
     select $1, $2, n, $3::timestamptz + n * interval '1 microsecond', 12, 'refused' from generate_series(1, 250) n`,
    [DAY, id, `${DAY}T12:01:00Z`],
  );
  const path = `/v1/webhooks/${webhook}/deliveries/${id}`;
  const read = async (query = '') => (await shop.send('GET', `${path}${query}`)).body;
  const numbers: number[] = [];
  let page = await read();
  expect(page.attempts).toHaveLength(100);
  for (;;) {
    numbers.push(...page.attempts.map(({ number }: { number: number }) => number));
    if (page.next_cursor === undefined) break;
    page = await read(`?limit=70&cursor=${page.next_cursor}`);
  }
  expect(numbers).toEqual(Array.from({ length: 250 }, (_, n) => n + 1));
  for (const query of ['?cursor=nonsense', '?limit=0', '?limit=101'])
    expect(await read(query)).toMatchObject({ statusCode: 400, code: 'invalid_request' });
});

test('returns no payload once the body has been deleted', async () => {
  const { id } = await record({ body: null });
  expect((await shop.send('GET', `/v1/webhooks/${webhook}/deliveries/${id}`)).body).not.toHaveProperty('payload');
});

test.each([
  { type: 'order:paid', reader: 'orders:self:read', other: 'payments:self:read' },
  { type: 'payment:applied', reader: 'payments:self:read', other: 'orders:self:read' },
] as const)('shows the payload of $type only to keys with $reader', async ({ type, reader, other: foreign }) => {
  const { id } = await record({ type });
  await gateway.pool.query(
    `insert into webhooks.attempts (day, delivery_id, number, started_at, duration_ms, outcome, status_code, response)
     values ($1, $2, 1, $3, 12, 'refused', 500, 'an echo of the body')`,
    [DAY, id, `${DAY}T12:01:00Z`],
  );
  const read = async (scopes: Scope[], path = `/${id}`) => {
    const key = await shop.issue({ scopes: ['webhooks:self:read', ...scopes] });
    return (await shop.send('GET', `/v1/webhooks/${webhook}/deliveries${path}`, undefined, { 'x-api-key': key })).body;
  };
  expect(await read([reader])).toMatchObject({ payload, attempts: [{ response: 'an echo of the body' }] });
  const hidden = await read([foreign]);
  expect(hidden).toMatchObject({ id, event_type: type, attempts: [{ number: 1, status_code: 500 }] });
  expect(JSON.stringify(hidden)).not.toMatch(/payload|echo/);
  expect(JSON.stringify(await read([reader], ''))).not.toMatch(/payload|echo/);
});

test('shows no internal address in the error of an attempt', async () => {
  const { id } = await record();
  await gateway.pool.query(
    `insert into webhooks.attempts (day, delivery_id, number, started_at, duration_ms, outcome, error)
     values ($1, $2, 1, $3, 12, 'blocked', 'shop.example resolves to 10.1.2.3, which is not public')`,
    [DAY, id, `${DAY}T12:01:00Z`],
  );
  const { attempts } = (await shop.send('GET', `/v1/webhooks/${webhook}/deliveries/${id}`)).body;
  expect(attempts[0].error).toBe('shop.example resolves to (internal address), which is not public');
});

test('lists the deliveries of one webhook with pages, sort order and filters', async () => {
  const ids: string[] = [];
  for (const minute of [0, 1, 2, 3, 4])
    ids.push(
      (
        await record({
          status: minute % 2 ? 'failed' : 'delivered',
          at: `${DAY}T12:0${minute}:00.000Z`,
          type: minute === 4 ? 'order:paid' : 'payment:applied',
        })
      ).id,
    );
  await record({ of: await createWebhook() });
  const idsOf = (page: { items: { id: string }[] }) => page.items.map(({ id }) => id);
  expect(idsOf(await list())).toEqual([...ids].reverse());
  expect(await list('?limit=2&page=3&sort=asc')).toMatchObject({ count: 1, total: 5, totalPages: 3, page: 3 });
  expect(idsOf(await list('?limit=2&page=2&sort=asc'))).toEqual(ids.slice(2, 4));
  expect(idsOf(await list('?status=failed&sort=asc'))).toEqual([ids[1], ids[3]]);
  expect(idsOf(await list('?event_type=order:paid'))).toEqual([ids[4]]);
  expect((await list('?status=failed&event_type=order:paid')).total).toBe(0);
  expect((await list('?page=9')).items).toEqual([]);
});

test('date filters use the creation time of the delivery', async () => {
  const before = new Date().toISOString();
  const { id } = await record({ at: before });
  const after = new Date(Date.now() + 1_000).toISOString();
  expect((await list(`?from_date=${before}&to_date=${before}`)).items).toMatchObject([{ id }]);
  expect((await list(`?from_date=${after}`)).total).toBe(0);
  expect((await list('?to_date=1960-01-01T00:00:00Z')).total).toBe(0);
  expect((await list('?from_date=0001-01-01T00:00:00Z&to_date=9999-12-31T23:59:59Z')).total).toBe(1);
});

test.each(['status=lost', 'event_type=order:lost', 'limit=101', 'page=0', 'from_date=2026-01-31', 'currency=BTC'])(
  'refuses a list with %s',
  async (query) => {
    const response = await shop.send('GET', `/v1/webhooks/${webhook}/deliveries?${query}`);
    expect(response.status).toBe(400);
    expect(response.body.details).toEqual([expect.objectContaining({ path: query.split('=')[0] })]);
  },
);

test('redelivery calls the dispatcher and returns the delivery', async () => {
  const { id } = await record();
  const { status, body } = await shop.send('POST', `/v1/webhooks/${webhook}/deliveries/${id}/redeliver`);
  expect(status).toBe(201);
  expect(body).toMatchObject({ id, webhook_id: webhook });
  expect(body).not.toHaveProperty('payload');
  expect(gateway.dispatcher.calls).toEqual([
    expect.objectContaining({ method: 'POST', path: `/webhooks/${webhook}/deliveries/${id}/redelivery` }),
  ]);
});

test.each([
  [errorResponse(404, 'not_found'), 404, 'not_found'],
  [errorResponse(409, 'delivery_expired'), 409, 'delivery_expired'],
  [errorResponse(409, 'webhook_disabled'), 409, 'webhook_disabled'],
  [errorResponse(503, 'dependency_unavailable'), 503, 'dependency_unavailable'],
])('returns the error of the dispatcher: %j', async (response, status, code) => {
  const { id } = await record();
  gateway.dispatcher.respond = () => response;
  const refused = await shop.send('POST', `/v1/webhooks/${webhook}/deliveries/${id}/redeliver`);
  expect(refused.body).toMatchObject({ statusCode: status, code });
});

test("another merchant's, an unknown or a malformed id is 404 without a call to the dispatcher", async () => {
  const { id } = await record();
  const paths = (hook: string, delivery: string) => [
    ['GET', `/v1/webhooks/${hook}/deliveries/${delivery}`],
    ['POST', `/v1/webhooks/${hook}/deliveries/${delivery}/redeliver`],
  ];
  const range = { from_date: '2026-01-30T00:00:00Z', to_date: '2026-01-31T00:00:00Z' };
  for (const [method, path, body] of [
    ...paths(webhook, id),
    ['GET', `/v1/webhooks/${webhook}/deliveries`],
    ['POST', `/v1/webhooks/${webhook}/replay`, range],
  ] as ['GET' | 'POST', string, unknown][])
    expect((await other.send(method, path, body)).body).toMatchObject({ statusCode: 404, code: 'not_found' });
  const second = await createWebhook();
  for (const [hook, delivery] of [
    [second, id],
    [`whk_${newUlid()}`, id],
    ['whk_1', id],
    [webhook, 'dlv_1'],
    [webhook, 'x%00'],
  ] as const)
    for (const [method, path] of paths(hook, delivery).slice(0, 1) as ['GET', string][])
      expect((await shop.send(method, path)).status).toBe(404);
  for (const bad of ['dlv_1', 'x%00'])
    expect((await shop.send('POST', `/v1/webhooks/${webhook}/deliveries/${bad}/redeliver`)).status).toBe(404);
  expect(gateway.dispatcher.calls.filter(({ method }) => method === 'POST')).toEqual([]);
});

describe('the deliveries of an order', () => {
  const orderOfShop = async (merchantId = shop.id) => {
    const order = `ord_${newUlid()}`;
    await projectOrder(gateway.pool, orderOf(order, merchantId));
    return order;
  };
  const at = (second: number) => `${DAY}T12:00:0${second}.000Z`;

  test('are those of all webhooks, by pages, newest first', async () => {
    const [order, second] = [await orderOfShop(), await createWebhook()];
    const own = [];
    for (const [index, of] of [webhook, second, webhook].entries())
      own.push((await record({ order, of, at: at(index) })).id);
    await record({ order: await orderOfShop(), at: at(4) });
    const path = `/v1/orders/${order}/deliveries`;
    const ids = async (query: string) => {
      const { body } = await shop.send('GET', `${path}${query}`);
      return [body.total, ...body.items.map(({ id }: { id: string }) => id)];
    };
    expect(await ids('')).toEqual([3, own[2], own[1], own[0]]);
    expect(await ids('?sort=asc&limit=2')).toEqual([3, own[0], own[1]]);
    expect(await ids('?sort=asc&limit=2&page=2')).toEqual([3, own[2]]);
    expect(await ids('?page=3')).toEqual([3]);
    expect(await ids(`?from_date=${at(1)}&to_date=${at(1)}`)).toEqual([1, own[1]]);
    const { next_cursor: cursor } = (await shop.send('GET', `${path}?limit=2`)).body;
    expect(await ids(`?limit=2&cursor=${cursor}`)).toEqual([3, own[0]]);
    await shop.send('DELETE', `/v1/webhooks/${second}`);
    expect(await ids('')).toEqual([2, own[2], own[0]]);
  });

  test('of an order without any, and of another merchant', async () => {
    const order = await orderOfShop();
    expect((await shop.send('GET', `/v1/orders/${order}/deliveries`)).body).toMatchObject({ total: 0, items: [] });
    const foreign = await orderOfShop(other.id);
    await record({ order: foreign });
    expect((await shop.send('GET', `/v1/orders/${foreign}/deliveries`)).status).toBe(404);
    expect((await other.send('GET', `/v1/orders/${foreign}/deliveries`)).body.total).toBe(0);
  });
});
