import type { Replay, ReplayCall } from '@cpg/contracts';
import { newId, newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { errorResponse, type StubCall, type StubResponse } from '../../testing/jest-stub-service.ts';

const EVENTS = ['order:paid', 'payment:applied'];

let gateway: TestGateway;
let shop: TestMerchant;
let webhook: string;

beforeAll(async () => {
  gateway = await startGateway();
  shop = await gateway.merchant();
  const created = await shop.send('POST', '/v1/webhooks', { url: 'https://shop.example/hooks', events: EVENTS });
  webhook = created.body.id;
});
afterAll(() => gateway.close());

const RANGE = { from_date: '2026-01-30T00:00:00+01:00', to_date: '2026-01-31T12:00:00Z' };
const replay = (body: unknown, headers = {}) => shop.send('POST', `/v1/webhooks/${webhook}/replay`, body, headers);
const NORMALIZED = { from_date: '2026-01-29T23:00:00.000Z', to_date: '2026-01-31T12:00:00.000Z' };
const CREATED_AT = '2026-02-01T12:00:00.000Z';

/** Stores replays as the dispatcher does, once per id. */
const store = async ({ body }: StubCall): Promise<StubResponse> => {
  const { replay_id, from_date, to_date, event_types } = body as ReplayCall;
  await gateway.pool.query(
    `insert into webhooks.replays (id, webhook_id, merchant_id, from_at, to_at, event_types, created_at, stepped_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7) on conflict (id) do nothing`,
    [replay_id, webhook, shop.id, from_date, to_date, event_types, CREATED_AT],
  );
  return { status: 204 };
};
beforeEach(async () => {
  await gateway.pool.query('delete from webhooks.replays');
  gateway.dispatcher.calls.length = 0;
  gateway.dispatcher.respond = store;
});

test('replays all subscribed event types, or the given ones', async () => {
  const { status, headers, body } = await replay(RANGE);
  expect([status, headers.location]).toEqual([201, `/v1/webhooks/${webhook}/replays/${body.id}`]);
  expect(body).toEqual({
    id: expect.stringMatching(/^rpl_/),
    webhook_id: webhook,
    status: 'paused',
    ...NORMALIZED,
    event_types: EVENTS,
    queued_events: 0,
    deferred_orders: 0,
    created_at: CREATED_AT,
  });
  await gateway.pool.query('delete from webhooks.replays');
  await replay({ ...RANGE, event_types: ['order:paid'] });
  const { from_date, to_date } = NORMALIZED;
  expect(gateway.dispatcher.calls.map(({ path, body }) => [path, body])).toEqual([
    [`/webhooks/${webhook}/replays`, { replay_id: expect.any(String), from_date, to_date, event_types: EVENTS }],
    [`/webhooks/${webhook}/replays`, expect.objectContaining({ event_types: ['order:paid'] })],
  ]);
});

test('a retry with the same Idempotency-Key is the same replay', async () => {
  const headers = { 'idempotency-key': newUlid() };
  gateway.dispatcher.respond = () => errorResponse(503, 'dependency_unavailable');
  expect((await replay(RANGE, headers)).status).toBe(503);
  gateway.dispatcher.respond = store;
  expect((await replay(RANGE, headers)).status).toBe(201);
  const ids = gateway.dispatcher.calls.map(({ body }) => (body as { replay_id: string }).replay_id);
  expect(ids).toHaveLength(2);
  expect(new Set(ids).size).toBe(1);
});

/** Inserts a replay into the dispatcher's table. */
const record = async (more: { of?: string; at?: string; set?: string } = {}) => {
  const { of = webhook, at = CREATED_AT, set = 'events = 0' } = more;
  const id = newId('replay');
  await gateway.pool.query(
    `insert into webhooks.replays (id, webhook_id, merchant_id, from_at, to_at, event_types, created_at, stepped_at, finished_at)
     values ($1, $2, $3, $4, $4, '{order:paid}', $4, $4, $4)`,
    [id, of, shop.id, at],
  );
  await gateway.pool.query(`update webhooks.replays set ${set} where id = $1`, [id]);
  return id;
};
const get = async (path: string) => (await shop.send('GET', `/v1/webhooks/${webhook}/replays${path}`)).body;
const setEnabled = (is_enabled: boolean) => shop.send('PATCH', `/v1/webhooks/${webhook}`, { is_enabled });

test('a replay shows its status and progress', async () => {
  const id = await record({
    set: `finished_at = null, events = 7, deferred = '{ord_1,ord_2}', reached_order = '2026-01-30T01:02:03.004Z ord_9'`,
  });
  const statusAfter = async (isEnabled: boolean, set: string): Promise<Replay> => {
    await setEnabled(isEnabled);
    await gateway.pool.query(`update webhooks.replays set ${set}`);
    return get(`/${id}`);
  };
  const progress = { id, queued_events: 7, deferred_orders: 2, reached_date: '2026-01-30T01:02:03.004Z' };
  expect(await statusAfter(true, 'events = 7')).toMatchObject({ ...progress, status: 'running' });
  expect(await statusAfter(false, 'events = 7')).toMatchObject({ ...progress, status: 'paused' });
  expect(await get(`/${id}`)).not.toHaveProperty('ended_at');
  const ended_at = '2026-02-01T13:00:00.000Z';
  expect(await statusAfter(false, `finished_at = '${ended_at}'`)).toMatchObject({ status: 'done', ended_at });
  expect(await statusAfter(true, `canceled_at = '${ended_at}'`)).toMatchObject({ status: 'canceled', ended_at });
});

test('lists the replays of a webhook by creation time, page by page', async () => {
  const ids: string[] = [];
  for (const hour of [10, 11, 12]) ids.push(await record({ at: `2026-02-01T${hour}:00:00.000Z` }));
  await record({ of: newId('webhook') });
  const idsOf = ({ items }: { items: Replay[] }) => items.map(({ id }) => id);
  expect(await get('?sort=asc')).toMatchObject({ total: 3, page: 1, totalPages: 1 });
  expect(idsOf(await get('?sort=asc'))).toEqual(ids);
  const first = await get('?limit=2');
  expect(idsOf(first)).toEqual([ids[2], ids[1]]);
  expect(idsOf(await get(`?limit=2&cursor=${first.next_cursor}`))).toEqual([ids[0]]);
  expect(idsOf(await get('?from_date=2026-02-01T10:30:00Z&to_date=2026-02-01T11:30:00Z'))).toEqual([ids[1]]);
});

test('cancels a replay, and answers with its new state', async () => {
  const id = await record({ set: 'finished_at = null' });
  gateway.dispatcher.respond = async () => {
    await gateway.pool.query('update webhooks.replays set finished_at = now(), canceled_at = now()');
    return { status: 204 };
  };
  const cancel = () => shop.send('POST', `/v1/webhooks/${webhook}/replays/${id}/cancel`);
  expect(await cancel()).toMatchObject({ status: 201, body: { id, status: 'canceled' } });
  expect(await cancel()).toMatchObject({ status: 201, body: { id, status: 'canceled' } });
  const path = `/webhooks/${webhook}/replays/${id}/cancel`;
  expect(gateway.dispatcher.calls.map(({ method, path: called }) => [method, called])).toEqual([
    ['POST', path],
    ['POST', path],
  ]);
});

test('a replay of another webhook or merchant, and a malformed id, are 404', async () => {
  const [id, other] = [await record(), await record({ of: newId('webhook') })];
  const stranger = await gateway.merchant();
  for (const [merchant, replayId] of [
    [shop, other],
    [shop, newId('replay')],
    [shop, 'rpl_1'],
    [stranger, id],
  ] as const)
    for (const [method, suffix] of [
      ['GET', ''],
      ['POST', '/cancel'],
    ] as const) {
      const { status } = await merchant.send(method, `/v1/webhooks/${webhook}/replays/${replayId}${suffix}`);
      expect(status).toBe(404);
    }
  expect(gateway.dispatcher.calls).toEqual([]);
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
])('returns 400 for %j with the path of the field', async (body, path) => {
  const response = await replay(body);
  expect(response.status).toBe(400);
  expect(response.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  expect(gateway.dispatcher.calls).toEqual([]);
});
