import { setTimeout as sleep } from 'node:timers/promises';
import { newUlid, secretBox, webhookRow } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

const BODY = { url: 'https://shop.example/hooks', events: ['order:paid', 'payment:applied'] };
const box = secretBox(['key of the tests that seals, thirty-two characters']);
const open = (sealed: string, id: string) => box.open(sealed, webhookRow(id));

let gateway: TestGateway;
let shop: TestMerchant;
let other: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway();
  other = await gateway.merchant();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
});

const create = async (more = {}) => (await shop.send('POST', '/v1/webhooks', { ...BODY, ...more })).body;
const row = async (id: string) =>
  (await gateway.pool.query('select * from gateway.webhooks where id = $1', [id])).rows[0];

test('a new webhook is disabled, and only this response has its secret', async () => {
  const { status, body, headers } = await shop.send('POST', '/v1/webhooks', BODY);
  expect({ status, location: headers.location }).toEqual({ status: 201, location: `/v1/webhooks/${body.id}` });
  expect(body).toEqual({
    id: expect.stringMatching(/^whk_[0-9A-HJKMNP-TV-Z]{26}$/),
    merchant_id: shop.id,
    ...BODY,
    is_enabled: false,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z$/),
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  const { secret, ...webhook } = body;
  expect((await shop.send('GET', `/v1/webhooks/${body.id}`)).body).toEqual(webhook);
  expect((await shop.send('GET', '/v1/webhooks')).body.items).toEqual([webhook]);
  expect(open((await row(body.id)).secret_box, body.id)).toBe(secret);
});

test.each([
  [{ url: 'http://shop.example/' }, 'url'],
  [{ url: 'https://10.0.0.1/' }, 'url'],
  [{ url: `https://shop.example/${'x'.repeat(2048)}` }, 'url'],
  [{ url: 7 }, 'url'],
  [{ events: [] }, 'events'],
  [{ events: ['order:paid', 'order:paid'] }, 'events'],
  [{ events: ['order:lost'] }, 'events.0'],
  [{ is_enabled: true }, 'is_enabled'],
  [{ label: '' }, 'label'],
  [{ label: null }, 'label'],
  [{ filter: {} }, 'filter'],
  [{ filter: { shop: 'b2c', table: '7' } }, 'filter'],
  [{ filter: { shop: 7 } }, 'filter.shop'],
])('returns 400 for %j with the path of the field', async (overrides, path) => {
  const { status, body } = await shop.send('POST', '/v1/webhooks', { ...BODY, ...overrides });
  expect(status).toBe(400);
  expect(body.details.map((detail: { path: string }) => detail.path)).toContain(path);
});

test('updates events and is_enabled separately; enabling clears disabled_reason', async () => {
  const { id } = await create();
  const patch = async (body: unknown) => (await shop.send('PATCH', `/v1/webhooks/${id}`, body)).body;
  expect(await patch({ is_enabled: true })).toMatchObject({
    ...BODY,
    is_enabled: true,
    updated_at: expect.any(String),
  });
  expect(await patch({ events: ['order:created'] })).toMatchObject({ events: ['order:created'], is_enabled: true });
  await gateway.pool.query(
    `update gateway.webhooks set is_enabled = false, disabled_reason = 'it answered 410' where id = $1`,
    [id],
  );
  expect(await patch({ events: ['order:paid'] })).toMatchObject({
    is_enabled: false,
    disabled_reason: 'it answered 410',
  });
  expect(await patch({ is_enabled: true })).not.toHaveProperty('disabled_reason');
});

test('a webhook has a label and a filter if its merchant gives them, until they are removed', async () => {
  const [label, filter] = ['Shop for consumers', { shop: 'b2c' }];
  const { id, ...created } = await create({ label, filter });
  expect(created).toMatchObject({ label, filter });
  const patch = async (body: unknown) => (await shop.send('PATCH', `/v1/webhooks/${id}`, body)).body;
  expect(await patch({ is_enabled: true })).toMatchObject({ label, filter });
  expect(await patch({ filter: { shop: 'b2b' } })).toMatchObject({ label, filter: { shop: 'b2b' } });
  expect((await shop.send('GET', `/v1/webhooks/${id}`)).body).toMatchObject({ label, filter: { shop: 'b2b' } });
  expect((await shop.send('GET', '/v1/webhooks')).body.items).toMatchObject([{ label, filter: { shop: 'b2b' } }]);
  const { rows } = await gateway.pool.query('select filter from gateway.webhook_endpoints where id = $1', [id]);
  expect(rows).toEqual([{ filter: { shop: 'b2b' } }]);
  expect(await patch({ filter: null })).not.toHaveProperty('filter');
  expect(await patch({ label: null, filter })).toMatchObject({ filter });
  const { body } = await shop.send('GET', `/v1/webhooks/${id}`);
  expect(body).toMatchObject({ filter });
  expect(body).not.toHaveProperty('label');
});

test('refuses to change the URL and says what to do', async () => {
  const { id } = await create();
  const { status, body } = await shop.send('PATCH', `/v1/webhooks/${id}`, { url: BODY.url, is_enabled: true });
  expect(status).toBe(400);
  expect(body.details).toEqual([{ path: 'url', message: expect.stringMatching(/cannot be changed: delete/) }]);
});

test.each([[{}], [{ is_enabled: 'yes' }], [{ events: [] }], [{ surprise: 1 }], [null]])(
  'refuses PATCH %j',
  async (body) => {
    const { id } = await create();
    expect((await shop.send('PATCH', `/v1/webhooks/${id}`, body)).status).toBe(400);
  },
);

test('rotation returns a new secret and keeps the old one for 24 hours', async () => {
  const { id, secret } = await create();
  const before = Date.now();
  const { status, body } = await shop.send('POST', `/v1/webhooks/${id}/rotate-secret`);
  expect(status).toBe(201);
  expect(body.secret).not.toBe(secret);
  const stored = await row(id);
  expect([open(stored.secret_box, id), open(stored.previous_secret_box, id)]).toEqual([body.secret, secret]);
  const overlap = stored.previous_secret_until.getTime() - 24 * 60 * 60 * 1000;
  expect(overlap).toBeGreaterThanOrEqual(before);
  expect(overlap).toBeLessThanOrEqual(Date.now());
});

test('each old secret keeps its own 24 hours; a rotation with three live secrets is refused', async () => {
  const { id, secret: first } = await create();
  const rotate = () => shop.send('POST', `/v1/webhooks/${id}/rotate-secret`);
  const { body: second } = await rotate();
  const { previous_secret_until: firstUntil } = await row(id);
  expect((await rotate()).status).toBe(201);
  const stored = await row(id);
  expect([open(stored.previous_secret_box, id), open(stored.older_secret_box, id)]).toEqual([second.secret, first]);
  expect(stored.older_secret_until).toEqual(firstUntil);

  expect(await rotate()).toMatchObject({ status: 409, body: { code: 'too_many_secrets' } });
  expect((await row(id)).secret_box).toBe(stored.secret_box);
  await gateway.pool.query(
    `update gateway.webhooks set older_secret_until = now() - interval '1 second' where id = $1`,
    [id],
  );
  expect((await rotate()).status).toBe(201);
  expect(open((await row(id)).older_secret_box, id)).toBe(second.secret);
});

test('deletes a webhook and asks the dispatcher to fail its queued deliveries', async () => {
  const { id } = await create();
  gateway.dispatcher.calls.length = 0;
  const { status, body } = await shop.send('DELETE', `/v1/webhooks/${id}`);
  expect({ status, body }).toEqual({ status: 200, body: { id, deleted: true } });
  expect(gateway.dispatcher.calls).toEqual([
    expect.objectContaining({ method: 'DELETE', path: `/webhooks/${id}/deliveries` }),
  ]);
  expect((await shop.send('GET', `/v1/webhooks/${id}`)).status).toBe(404);
  expect((await shop.send('DELETE', `/v1/webhooks/${id}`)).status).toBe(404);
  expect((await shop.send('GET', '/v1/webhooks')).body.total).toBe(0);
});

test('deletes a webhook while the dispatcher is unavailable', async () => {
  const { id } = await create();
  const response = gateway.dispatcher.respond;
  gateway.dispatcher.respond = () => errorResponse(503, 'dependency_unavailable');
  expect((await shop.send('DELETE', `/v1/webhooks/${id}`)).status).toBe(200);
  gateway.dispatcher.respond = response;
  expect((await row(id)).deleted_at).not.toBeNull();
});

test("every method returns the same 404 for another merchant's, an unknown and a malformed id", async () => {
  const { id } = await create();
  const bodies = new Set<string>();
  for (const at of [id, `whk_${newUlid()}`, 'whk_1', 'x%00']) {
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['PATCH', '', { is_enabled: true }],
      ['DELETE', '', undefined],
      ['POST', '/rotate-secret', undefined],
    ] as const) {
      const response = await other.send(method, `/v1/webhooks/${at}${path}`, body);
      bodies.add(JSON.stringify({ ...response.body, request_id: '' }));
    }
  }
  expect([...bodies].map((text) => JSON.parse(text))).toEqual([
    expect.objectContaining({ statusCode: 404, code: 'not_found' }),
  ]);
  expect((await shop.send('GET', `/v1/webhooks/${id}`)).body.is_enabled).toBe(false);
});

test('a merchant has at most 20 webhooks, even with concurrent requests; a deleted one does not count', async () => {
  const answers = await Promise.all(Array.from({ length: 25 }, () => shop.send('POST', '/v1/webhooks', BODY)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  expect(answers.filter(({ status, body }) => status === 409 && body.code === 'too_many_webhooks')).toHaveLength(5);
  const page = (await shop.send('GET', '/v1/webhooks?limit=15&page=2&sort=asc')).body;
  expect(page).toMatchObject({ count: 5, total: 20, totalPages: 2 });
  await shop.send('DELETE', `/v1/webhooks/${page.items[0].id}`);
  expect((await shop.send('POST', '/v1/webhooks', BODY)).status).toBe(201);
});

describe('with DNS servers that do not answer', () => {
  let resolutions: string[];
  let answers: (() => void)[];
  let slow: TestGateway;
  beforeAll(async () => {
    slow = await startGateway({
      resolve: async (host) => {
        resolutions.push(host);
        if (host.startsWith('slow')) await new Promise<void>((done) => answers.push(done));
        return ['93.184.216.34'];
      },
    });
  });
  afterAll(() => slow.close());
  beforeEach(() => {
    resolutions = [];
    answers = [];
  });

  test('a merchant has four look-ups at a time and delays no other merchant', async () => {
    const [busy, calm] = [await slow.merchant(), await slow.merchant()];
    const url = 'https://slow.example/';
    const creations = Array.from({ length: 30 }, () => busy.send('POST', '/v1/webhooks', { ...BODY, url }));
    expect(await calm.send('POST', '/v1/webhooks', BODY)).toMatchObject({ status: 201 });
    const refused: unknown[] = [];
    for (const creation of creations) void creation.then((answer) => refused.push(answer));
    while (refused.length < 6) await sleep(5);
    expect(refused).toEqual(
      Array(6).fill(
        expect.objectContaining({
          status: 429,
          body: expect.objectContaining({ code: 'rate_limited' }),
          headers: expect.objectContaining({ 'retry-after': '2' }),
        }),
      ),
    );
    expect(resolutions.filter((host) => host === 'slow.example')).toHaveLength(4);
    const ended = Promise.all(creations);
    const answering = setInterval(() => answers.splice(0).forEach((answer) => answer()), 1);
    const statuses = (await ended).map(({ status }) => status).sort();
    clearInterval(answering);
    expect(statuses).toEqual([
      ...Array.from({ length: 20 }, () => 201),
      ...Array.from({ length: 4 }, () => 409),
      ...Array.from({ length: 6 }, () => 429),
    ]);
  });

  test('looks up nothing when the merchant has 20 webhooks', async () => {
    const full = await slow.merchant();
    for (let i = 0; i < 20; i++) await full.send('POST', '/v1/webhooks', BODY);
    resolutions = [];
    expect(await full.send('POST', '/v1/webhooks', BODY)).toMatchObject({ status: 409 });
    expect(resolutions).toEqual([]);
  });
});

test('lists filter by date and refuse the filters of orders', async () => {
  const { created_at } = await create();
  expect((await shop.send('GET', `/v1/webhooks?from_date=${created_at}&to_date=${created_at}`)).body.total).toBe(1);
  expect((await shop.send('GET', '/v1/webhooks?to_date=2020-01-01T00:00:00Z')).body.total).toBe(0);
  expect((await shop.send('GET', '/v1/webhooks?status=paid')).status).toBe(400);
});
