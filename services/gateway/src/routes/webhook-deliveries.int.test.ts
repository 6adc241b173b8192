import { payload } from '../openapi/examples.ts';
import { newSeed } from '../seed.ts';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { refusal } from '../testing/jest-stub-service.ts';

const EVENTS = ['order:paid', 'payment:applied'];
const DAY = '2026-01-31';

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
  gateway.dispatcher.answer = () => ({ status: 204 });
});

const createWebhook = async () =>
  (await shop.send('POST', '/v1/webhooks', { url: 'https://shop.example/hooks', events: EVENTS })).body.id as string;

/** Puts a delivery into the dispatcher's records; its body too, unless that is gone. */
const record = async (more: { status?: string; type?: string; at?: string; of?: string; body?: unknown } = {}) => {
  const { status = 'delivered', type = 'payment:applied', at = `${DAY}T12:00:00.000Z`, of = webhook } = more;
  const [id, event] = [`dlv_${newSeed()}`, `evt_${newSeed()}`];
  await gateway.pool.query(
    `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, status, attempts, created_at)
     values ($1, $2, $3, $4, $5, $6, 2, $7)`,
    [DAY, event, of, id, type, status, at],
  );
  if (more.body !== null)
    await gateway.pool.query(
      `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body)
       values ($1, $2, $3, 'ord_1', $4, $5, '1', $6)`,
      [DAY, event, shop.id, type, at, JSON.stringify(payload)],
    );
  return { id, event };
};
const list = async (query = '') => (await shop.send('GET', `/v1/webhooks/${webhook}/deliveries${query}`)).body;

test('a delivery is shown with its attempts, oldest first, and its body', async () => {
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

test('one whose body is no longer kept has no payload', async () => {
  const { id } = await record({ body: null });
  expect((await shop.send('GET', `/v1/webhooks/${webhook}/deliveries/${id}`)).body).not.toHaveProperty('payload');
});

test('the list has pages, both orders, filters and dates, of one webhook', async () => {
  const ids: string[] = [];
  for (const minute of [0, 1, 2, 3, 4])
    ids.push(
      (
        await record({
          status: minute % 2 ? 'failed' : 'delivered',
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

test('dates are those of the deliveries', async () => {
  const before = new Date().toISOString();
  const { id } = await record({ at: before });
  const after = new Date(Date.now() + 1_000).toISOString();
  expect((await list(`?from_date=${before}&to_date=${before}`)).items).toMatchObject([{ id }]);
  expect((await list(`?from_date=${after}`)).total).toBe(0);
  expect((await list('?to_date=1960-01-01T00:00:00Z')).total).toBe(0);
  expect((await list('?from_date=0001-01-01T00:00:00Z&to_date=9999-12-31T23:59:59Z')).total).toBe(1);
});

test.each(['status=lost', 'event_type=order:lost', 'limit=101', 'page=0', 'from_date=2026-01-31', 'currency=BTC'])(
  'a list by %s is refused',
  async (query) => {
    const answer = await shop.send('GET', `/v1/webhooks/${webhook}/deliveries?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.body.details).toEqual([expect.objectContaining({ path: query.split('=')[0] })]);
  },
);

test('a redelivery is the dispatcher’s to make; the answer is the delivery', async () => {
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
  [refusal(404, 'not_found'), 404, 'not_found'],
  [refusal(409, 'delivery_expired'), 409, 'delivery_expired'],
  [refusal(409, 'webhook_disabled'), 409, 'webhook_disabled'],
  [refusal(503, 'dependency_unavailable'), 503, 'dependency_unavailable'],
])('what the dispatcher refuses is refused: %j', async (answer, status, code) => {
  const { id } = await record();
  gateway.dispatcher.answer = () => answer;
  const refused = await shop.send('POST', `/v1/webhooks/${webhook}/deliveries/${id}/redeliver`);
  expect(refused.body).toMatchObject({ statusCode: status, code });
});

describe('a replay', () => {
  const RANGE = { from_date: '2026-01-30T00:00:00+01:00', to_date: '2026-01-31T12:00:00Z' };
  const replay = (body: unknown, headers = {}) => shop.send('POST', `/v1/webhooks/${webhook}/replay`, body, headers);
  const answered = {
    webhook_id: '',
    from_date: '2026-01-29T23:00:00.000Z',
    to_date: '2026-01-31T12:00:00.000Z',
    event_types: EVENTS,
  };
  beforeEach(() => {
    gateway.dispatcher.answer = () => ({ status: 201, body: { ...answered, webhook_id: webhook } });
  });

  test('of all that the webhook is subscribed to, or of some of it', async () => {
    expect(await replay(RANGE)).toMatchObject({ status: 201, body: { ...answered, webhook_id: webhook } });
    await replay({ ...RANGE, event_types: ['order:paid'] });
    const { from_date, to_date } = answered;
    expect(gateway.dispatcher.calls.map(({ path, body }) => [path, body])).toEqual([
      [`/webhooks/${webhook}/replays`, { replay_id: expect.any(String), from_date, to_date, event_types: EVENTS }],
      [`/webhooks/${webhook}/replays`, expect.objectContaining({ event_types: ['order:paid'] })],
    ]);
  });

  test('sent again under its Idempotency-Key after a failure is the same replay', async () => {
    const headers = { 'idempotency-key': newSeed() };
    gateway.dispatcher.answer = () => refusal(503, 'dependency_unavailable');
    expect((await replay(RANGE, headers)).status).toBe(503);
    gateway.dispatcher.answer = () => ({ status: 201, body: { ...answered, webhook_id: webhook } });
    expect((await replay(RANGE, headers)).status).toBe(201);
    const ids = gateway.dispatcher.calls.map(({ body }) => (body as { replay_id: string }).replay_id);
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });

  test.each([
    [{}, 'from_date'],
    [{ from_date: RANGE.from_date }, 'to_date'],
    [{ ...RANGE, from_date: '2026-01-30' }, 'from_date'],
    [{ ...RANGE, to_date: '2026-01-29T00:00:00Z' }, 'to_date'],
    [{ ...RANGE, event_types: [] }, 'event_types'],
    [{ ...RANGE, event_types: ['order:paid', 'order:paid'] }, 'event_types'],
    [{ ...RANGE, event_types: ['order:lost'] }, 'event_types.0'],
    [{ ...RANGE, event_types: ['order:paid', 'order:created'] }, 'event_types.1'],
    [{ ...RANGE, surprise: 1 }, 'surprise'],
  ])('of %j is refused by name', async (body, path) => {
    const answer = await replay(body);
    expect(answer.status).toBe(400);
    expect(answer.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(gateway.dispatcher.calls).toEqual([]);
  });
});

test('what is another merchant’s, unknown or malformed is 404, and the dispatcher hears nothing', async () => {
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
    [`whk_${newSeed()}`, id],
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
