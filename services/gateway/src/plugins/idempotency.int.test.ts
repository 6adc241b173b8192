import { setTimeout as sleep } from 'node:timers/promises';
import { forgetExpiredRequests } from '../queries/idempotency.ts';
import { newSeed } from '../seed.ts';
import {
  type Answer,
  orderBody,
  orderOf,
  ordersAnswer,
  startGateway,
  type TestGateway,
  type TestMerchant,
} from '../testing/jest-gateway.ts';
import { refusal } from '../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  gateway.orders.calls.length = 0;
  gateway.orders.answer = ordersAnswer;
});

const create = (key: string, more = {}, from = shop) =>
  from.send('POST', '/v1/orders', orderBody(more), { 'idempotency-key': key });
const ordersMade = () => gateway.orders.calls.map(({ body }) => (body as { order_id: string }).order_id);
const bare = ({ body: { request_id: _, ...body } }: Answer) => body;

test('the same request again gets the stored answer, and has no second effect', async () => {
  const first = await create('k1');
  const again = await create('k1');
  expect({ status: again.status, text: again.text }).toEqual({ status: 201, text: first.text });
  expect(first.headers['idempotency-replayed']).toBeUndefined();
  expect(again.headers).toMatchObject({
    'idempotency-replayed': 'true',
    'content-type': 'application/json; charset=utf-8',
  });
  expect(ordersMade()).toEqual([first.body.id]);
});

test('the order of the names in a body makes no other request', async () => {
  const first = await create('k1');
  const reversed = Object.fromEntries(Object.entries(orderBody()).reverse());
  expect((await shop.send('POST', '/v1/orders', reversed, { 'idempotency-key': 'k1' })).text).toBe(first.text);
});

test('another body, or another path, under the same key is 422', async () => {
  await create('k1');
  const other = await create('k1', { external_reference_id: 'another' });
  expect({ status: other.status, code: other.body.code }).toEqual({ status: 422, code: 'idempotency_key_reused' });
  const path = await shop.send('POST', `/v1/orders/ord_${newSeed()}/cancel`, undefined, { 'idempotency-key': 'k1' });
  expect(path.status).toBe(422);
});

test("another merchant's key of the same name is another key", async () => {
  const other = await gateway.merchant();
  const [mine, theirs] = [await create('k1'), await create('k1', {}, other)];
  expect(theirs.status).toBe(201);
  expect(theirs.body.id).not.toBe(mine.body.id);
});

test('of many at once one has the effect; while it runs the others hear 409, and after it its answer', async () => {
  let finish = () => {};
  const finishing = new Promise<void>((resolve) => (finish = resolve));
  let begun = () => {};
  const running = new Promise<void>((resolve) => (begun = resolve));
  gateway.orders.answer = async (call) => {
    begun();
    await finishing;
    return ordersAnswer(call);
  };
  const many = Array.from({ length: 10 }, () => create('k1'));
  await running;
  const refused = await Promise.all([create('k1'), create('k1')]);
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
    Array(2).fill([409, 'idempotency_key_in_use']),
  );
  finish();
  const answers = [...(await Promise.all(many)), await create('k1')];
  expect(ordersMade()).toHaveLength(1);
  const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.id as string);
  expect(new Set(made)).toEqual(new Set(ordersMade()));
  expect(answers.at(-1)!.status).toBe(201);
  expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
});

test('after a crash between effect and answer, a retry makes the same order again', async () => {
  const first = await create('k1');
  // As a crash leaves it: claimed, never answered; then the lease runs out.
  await gateway.pool.query(
    `update gateway.idempotency_keys set status = null, answer = null, holder = 'gone', leased_until = now() + interval '30 seconds'`,
  );
  expect((await create('k1')).status).toBe(409);
  await gateway.pool.query(`update gateway.idempotency_keys set leased_until = now() - interval '1 millisecond'`);
  const other = await create('k1', { external_reference_id: 'another' });
  expect(other.status).toBe(422);
  const retry = await create('k1');
  expect({ status: retry.status, id: retry.body.id }).toEqual({ status: 201, id: first.body.id });
  expect(new Set(ordersMade())).toEqual(new Set([first.body.id]));
  expect((await create('k1')).headers['idempotency-replayed']).toBe('true');
});

test('who comes back after another took over does not overwrite its answer', async () => {
  let release = () => {};
  const held = new Promise<void>((done) => (release = done));
  gateway.orders.answer = async (call) => {
    if (gateway.orders.calls.length === 1) await held;
    return {
      status: 201,
      body: orderOf((call.body as { order_id: string }).order_id, shop.id, {
        payment_reference: String(gateway.orders.calls.length),
      }),
    };
  };
  const slow = create('k1');
  while (gateway.orders.calls.length === 0) await sleep(5);
  await gateway.pool.query(`update gateway.idempotency_keys set leased_until = now() - interval '1 second'`);
  const taker = await create('k1');
  release();
  await slow;
  expect((await create('k1')).text).toBe(taker.text);
  expect(new Set(ordersMade()).size).toBe(1);
});

test('a request whose gateway lives is left to it; one whose gateway died is taken up at once, under the same id', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  gateway.orders.answer = async (call) => {
    if (gateway.orders.calls.length === 1) await held;
    return ordersAnswer(call);
  };
  const cutOff = create('k1');
  while (gateway.orders.calls.length === 0) await sleep(5);
  expect((await create('k1')).body.code).toBe('idempotency_key_in_use');
  await gateway.pool.query(
    "update gateway.idempotency_keys set instance = 'gateway that died' where merchant_id = $1",
    [shop.id],
  );
  expect((await create('k1', { external_reference_id: 'another' })).status).toBe(422);
  const taken = await create('k1');
  expect(taken.status).toBe(201);
  release();
  await cutOff;
  expect((await create('k1')).text).toBe(taken.text);
  expect(new Set(ordersMade())).toEqual(new Set([taken.body.id]));
});

test('an outage is not kept: the retry runs again at once, under the same id', async () => {
  gateway.orders.answer = () => refusal(503, 'dependency_unavailable');
  expect((await create('k1')).status).toBe(503);
  gateway.orders.answer = ordersAnswer;
  const retry = await create('k1');
  expect(retry.status).toBe(201);
  expect(ordersMade()).toEqual([retry.body.id, retry.body.id]);
});

test('a refusal by the rules is kept, one that may turn out otherwise is not', async () => {
  const cancel = () => shop.send('POST', `/v1/orders/${id}/cancel`, undefined, { 'idempotency-key': 'k1' });
  const id = `ord_${newSeed()}`;
  gateway.orders.answer = () => refusal(409, 'concurrent_update');
  expect((await cancel()).body.code).toBe('concurrent_update');
  gateway.orders.answer = () => refusal(409, 'cancel_not_allowed');
  const refused = await cancel();
  gateway.orders.answer = ordersAnswer;
  const again = await cancel();
  expect({ status: again.status, text: again.text }).toEqual({ status: 409, text: refused.text });
  expect(again.headers['idempotency-replayed']).toBe('true');
});

test('after 24 hours a key is new, and the old one is forgotten', async () => {
  const first = await create('k1');
  await create('k2');
  await gateway.pool.query(
    `update gateway.idempotency_keys set expires_at = now() - interval '1 second' where key in ('k1', 'k2') and merchant_id = $1`,
    [shop.id],
  );
  const later = await create('k1', { external_reference_id: 'another' });
  expect(later.status).toBe(201);
  expect(later.body.id).not.toBe(first.body.id);
  expect(await forgetExpiredRequests(gateway.pool)).toBe(1);
  expect((await create('k1', { external_reference_id: 'another' })).text).toBe(later.text);
});

test.each([
  ['', 400],
  ['a b', 400],
  ['clé', 400],
  ['x'.repeat(256), 400],
  ['x'.repeat(255), 201],
  ['!~', 201],
])('the key %j answers %i', async (key, status) => {
  const answer = await create(key);
  expect(answer.status).toBe(status);
  if (status === 400) expect(answer.body.details[0].path).toBe('idempotency-key');
});

test('an invalid request leaves its key free', async () => {
  expect((await create('k1', { items: [] })).status).toBe(400);
  expect((await create('k1')).status).toBe(201);
});

test('a webhook made again shows the same secret, and its answer is kept sealed', async () => {
  const body = { url: 'https://shop.example/hooks', events: ['order:paid'] };
  const make = () => shop.send('POST', '/v1/webhooks', body, { 'idempotency-key': 'k1' });
  const first = await make();
  expect((await make()).text).toBe(first.text);
  const { rows } = await gateway.pool.query(
    'select answer, sealed from gateway.idempotency_keys where merchant_id = $1',
    [shop.id],
  );
  expect(rows).toEqual([{ sealed: true, answer: expect.not.stringContaining('whsec_') }]);

  await gateway.pool.query(
    `update gateway.idempotency_keys set status = null, answer = null, leased_until = now() where merchant_id = $1`,
    [shop.id],
  );
  expect(bare(await make())).toEqual(bare(first));
  expect((await shop.send('GET', '/v1/webhooks')).body.total).toBe(1);
});

test('a rotation repeated after a crash rotates once', async () => {
  const made = await shop.send('POST', '/v1/webhooks', { url: 'https://shop.example/hooks', events: ['order:paid'] });
  const rotate = () =>
    shop.send('POST', `/v1/webhooks/${made.body.id}/rotate-secret`, undefined, { 'idempotency-key': 'k1' });
  const first = await rotate();
  await gateway.pool.query(
    `update gateway.idempotency_keys set status = null, answer = null, leased_until = now() where merchant_id = $1`,
    [shop.id],
  );
  expect((await rotate()).body.secret).toBe(first.body.secret);
  expect(first.body.secret).not.toBe(made.body.secret);
});

test('without the header nothing is kept, and every request is a new one', async () => {
  const before = await gateway.pool.query('select count(*)::int as n from gateway.idempotency_keys');
  const [a, b] = [
    await shop.send('POST', '/v1/orders', orderBody()),
    await shop.send('POST', '/v1/orders', orderBody()),
  ];
  expect(a.body.id).not.toBe(b.body.id);
  expect((await gateway.pool.query('select count(*)::int as n from gateway.idempotency_keys')).rows).toEqual(
    before.rows,
  );
});
