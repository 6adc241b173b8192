import { randomUUID } from 'node:crypto';
import { refusalOf } from './harness/api.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { sharedStack } from './harness/stack-files.ts';

const stack = sharedStack();
let shop: Shop;
let other: Shop;

beforeAll(async () => {
  [shop, other] = await Promise.all([openShop(stack), openShop(stack)]);
});
afterAll(() => Promise.all([shop.api.close(), other.api.close()]));

const post = (key: string, body: unknown = orderBody()) =>
  shop.api.send('POST', '/v1/orders', { body, headers: { 'idempotency-key': key } });
const cancel = (key: string, id: string) =>
  shop.api.send('POST', `/v1/orders/${id}/cancel`, { headers: { 'idempotency-key': key } });
const totalOf = async (reference: string) => (await shop.api.orders({ external_reference_id: reference })).total;

test('a repeated create with the same key gets the response of the first one', async () => {
  const key = randomUUID();
  const body = orderBody({ external_reference_id: key });
  const first = await post(key, body);
  expect(first.status).toBe(201);
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  await shop.api.cancel(first.body.id);
  const again = await post(key, body);
  expect(again).toMatchObject({ status: 201, text: first.text });
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(await totalOf(key)).toBe(1);
});

test('a repeated request does not bring back a deleted order', async () => {
  const key = randomUUID();
  const created = await post(key);
  const { id } = created.body;
  expect((await cancel(`${key}-cancel`, id)).status).toBe(201);
  expect((await shop.api.send('DELETE', `/v1/orders/${id}`)).status).toBe(200);
  for (const again of [await post(key), await cancel(`${key}-cancel`, id)]) {
    expect(again.status).toBe(410);
    expect(refusalOf(again)).toMatchObject({ error: 'Gone', code: 'order_deleted' });
  }
  expect((await post(key, orderBody({ external_reference_id: 'another' }))).status).toBe(422);
});

test('key order and white space of the JSON do not make a different request', async () => {
  const key = randomUUID();
  const { items, ...rest } = orderBody();
  const first = await post(key, { items, ...rest });
  const again = await post(key, JSON.stringify({ ...rest, items }, null, 2));
  expect(again).toMatchObject({ status: 201, text: first.text });
});

test('a different request with the same key is refused', async () => {
  const key = randomUUID();
  const first = await post(key);
  const changed = await post(key, orderBody({ external_reference_id: 'another' }));
  expect(changed.status).toBe(422);
  expect(refusalOf(changed)).toMatchObject({ error: 'Unprocessable Entity', code: 'idempotency_key_reused' });
  const elsewhere = await cancel(key, first.body.id);
  expect(elsewhere.status).toBe(422);
  expect(await shop.api.order(first.body.id)).toMatchObject({ status: 'awaiting_payment' });
  expect(await totalOf('another')).toBe(0);
});

test('concurrent requests with one key create one order', async () => {
  const key = randomUUID();
  const body = orderBody({ external_reference_id: key });
  const answers = await Promise.all(Array.from({ length: 30 }, () => post(key, body)));
  expect(answers.map(({ status }) => status)).toEqual(Array(30).fill(201));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined)).toHaveLength(1);
  expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
  expect(await totalOf(key)).toBe(1);
  expect(await post(key, body)).toMatchObject({ status: 201, text: answers[0]!.text });
});

test('two merchants can use the same key', async () => {
  const key = randomUUID();
  const mine = await post(key);
  const theirs = await other.api.createOrder(orderBody(), { 'idempotency-key': key });
  expect(theirs.id).not.toBe(mine.body.id);
});

test('a refusal is stored and replayed', async () => {
  const order = await shop.api.createOrder(orderBody({ capabilities: { can_cancel: false } }));
  const key = randomUUID();
  const first = await cancel(key, order.id);
  const again = await cancel(key, order.id);
  expect(first.status).toBe(409);
  expect(again).toMatchObject({ status: 409, text: first.text });
  expect(again.headers['idempotency-replayed']).toBe('true');
});

test('a request with an invalid body does not use its key', async () => {
  const key = randomUUID();
  expect((await post(key, { broken: true })).status).toBe(400);
  expect((await post(key)).status).toBe(201);
});

test('a webhook secret is returned again only for the same key', async () => {
  const body = { url: 'http://127.0.0.1:9/', events: ['order:paid' as const] };
  const headers = { 'idempotency-key': randomUUID() };
  const first = await shop.api.createWebhook(body, headers);
  expect(await shop.api.createWebhook(body, headers)).toEqual(first);
  expect(await shop.api.webhook(first.id)).not.toHaveProperty('secret');
  expect((await shop.api.webhooks()).total).toBe(1);
});

test.each([
  ['empty', ''],
  ['longer than 255 characters', 'x'.repeat(256)],
  ['with a space in it', 'a b'],
])('a key that is %s is refused', async (_, key) => {
  const answer = await post(key);
  expect(answer.status).toBe(400);
  expect(refusalOf(answer).details!.map(({ path }) => path)).toEqual(['idempotency-key']);
});

test('a key of 255 visible characters is accepted', async () => {
  expect((await post(`!~${'x'.repeat(253)}`)).status).toBe(201);
});
