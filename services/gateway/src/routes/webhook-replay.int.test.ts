import { newUlid } from '@cpg/runtime';
import { startGateway, type TestGateway, type TestMerchant } from '../testing/jest-gateway.ts';
import { errorResponse } from '../testing/jest-stub-service.ts';

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
const RESPONSE = {
  webhook_id: '',
  from_date: '2026-01-29T23:00:00.000Z',
  to_date: '2026-01-31T12:00:00.000Z',
  event_types: EVENTS,
};
beforeEach(() => {
  gateway.dispatcher.calls.length = 0;
  gateway.dispatcher.respond = () => ({ status: 201, body: { ...RESPONSE, webhook_id: webhook } });
});

test('replays all subscribed event types, or the given ones', async () => {
  expect(await replay(RANGE)).toMatchObject({ status: 201, body: { ...RESPONSE, webhook_id: webhook } });
  await replay({ ...RANGE, event_types: ['order:paid'] });
  const { from_date, to_date } = RESPONSE;
  expect(gateway.dispatcher.calls.map(({ path, body }) => [path, body])).toEqual([
    [`/webhooks/${webhook}/replays`, { replay_id: expect.any(String), from_date, to_date, event_types: EVENTS }],
    [`/webhooks/${webhook}/replays`, expect.objectContaining({ event_types: ['order:paid'] })],
  ]);
});

test('a retry with the same Idempotency-Key is the same replay', async () => {
  const headers = { 'idempotency-key': newUlid() };
  gateway.dispatcher.respond = () => errorResponse(503, 'dependency_unavailable');
  expect((await replay(RANGE, headers)).status).toBe(503);
  gateway.dispatcher.respond = () => ({ status: 201, body: { ...RESPONSE, webhook_id: webhook } });
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
])('returns 400 for %j with the path of the field', async (body, path) => {
  const response = await replay(body);
  expect(response.status).toBe(400);
  expect(response.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  expect(gateway.dispatcher.calls).toEqual([]);
});
