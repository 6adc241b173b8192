import { setTimeout as sleep } from 'node:timers/promises';
import { newUlid, type ResolveHost } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { paymentOf, refundResponse } from '../../testing/jest-resources.ts';
import type { TestResponse } from '../../testing/jest-send.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;

const publicAddress: ResolveHost = async () => ['93.184.216.34'];
let resolve = publicAddress;

beforeAll(async () => {
  gateway = await startGateway({ resolve: (host) => resolve(host) });
});
afterAll(() => gateway.close());
beforeEach(async () => {
  shop = await gateway.merchant();
  gateway.payments.calls.length = 0;
  gateway.payments.respond = refundResponse;
});

const PAYMENT = `pay_${newUlid()}`;
const refund = (key: string, more = {}, from = shop) =>
  from.send('POST', `/v1/payments/${PAYMENT}/refund`, { amount: '1', ...more }, { 'idempotency-key': key });
const refundIds = () => gateway.payments.calls.map(({ body }) => (body as { refund_id: string }).refund_id);
const idOf = ({ headers }: TestResponse) => String(headers.location).replace('/v1/refunds/', '');
const withoutRequestId = ({ body: { request_id: _, ...body } }: TestResponse) => body;

test('one of many concurrent repeats has an effect; the others get 409 until it ends', async () => {
  let finish = () => {};
  const finishing = new Promise<void>((resolve) => (finish = resolve));
  let signalStart = () => {};
  const running = new Promise<void>((resolve) => (signalStart = resolve));
  gateway.payments.respond = async (call) => {
    signalStart();
    await finishing;
    return refundResponse(call);
  };
  const many = Array.from({ length: 10 }, () => refund('k1'));
  await running;
  const refused = await Promise.all([refund('k1'), refund('k1')]);
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
    Array(2).fill([409, 'idempotency_key_in_use']),
  );
  finish();
  const answers = [...(await Promise.all(many)), await refund('k1')];
  expect(refundIds()).toHaveLength(1);
  const ids = answers.filter(({ status }) => status === 201).map(idOf);
  expect(new Set(ids)).toEqual(new Set(refundIds()));
  expect(answers.at(-1)!.status).toBe(201);
  expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
});

test('a retry after a crash before the response creates the same order', async () => {
  const first = await refund('k1');
  // The state after a crash: claimed, without a response. Then the lease expires.
  await gateway.pool.query(
    `update gateway.idempotency_keys set status = null, answer = null, holder = 'crashed request', leased_until = now() + interval '30 seconds'`,
  );
  expect((await refund('k1')).status).toBe(409);
  await gateway.pool.query(`update gateway.idempotency_keys set leased_until = now() - interval '1 millisecond'`);
  const other = await refund('k1', { amount: '2' });
  expect(other.status).toBe(422);
  const retry = await refund('k1');
  expect({ status: retry.status, id: idOf(retry) }).toEqual({ status: 201, id: idOf(first) });
  expect(new Set(refundIds())).toEqual(new Set([idOf(first)]));
  expect((await refund('k1')).headers['idempotency-replayed']).toBe('true');
});

test('a request that lost its lease does not overwrite the stored response', async () => {
  let release = () => {};
  const blocked = new Promise<void>((done) => (release = done));
  gateway.payments.respond = async () => {
    if (gateway.payments.calls.length === 1) await blocked;
    const payment = paymentOf(PAYMENT, shop.id, { provider_id: String(gateway.payments.calls.length) });
    return { status: 200, body: { payment, order: null } };
  };
  const slow = refund('k1');
  while (gateway.payments.calls.length === 0) await sleep(5);
  await gateway.pool.query(`update gateway.idempotency_keys set leased_until = now() - interval '1 second'`);
  const takeover = await refund('k1');
  release();
  await slow;
  expect((await refund('k1')).text).toBe(takeover.text);
  expect(new Set(refundIds()).size).toBe(1);
});

test('a repeat waits for a live gateway, and takes over from a dead one with the same id', async () => {
  let release = () => {};
  const blocked = new Promise<void>((resolve) => (release = resolve));
  gateway.payments.respond = async (call) => {
    if (gateway.payments.calls.length === 1) await blocked;
    return refundResponse(call);
  };
  const interrupted = refund('k1');
  while (gateway.payments.calls.length === 0) await sleep(5);
  const refused = await refund('k1');
  expect(refused.body.code).toBe('idempotency_key_in_use');
  expect(refused.headers['retry-after']).toBe('1');
  await gateway.pool.query(
    "update gateway.idempotency_keys set instance = 'gateway that died' where merchant_id = $1",
    [shop.id],
  );
  expect((await refund('k1', { amount: '2' })).status).toBe(422);
  const takeover = await refund('k1');
  expect(takeover.status).toBe(201);
  release();
  await interrupted;
  expect((await refund('k1')).text).toBe(takeover.text);
  expect(new Set(refundIds())).toEqual(new Set([idOf(takeover)]));
});

test.each([
  [503, 'dependency_unavailable'],
  [500, 'internal_error'],
  [409, 'replay_running'],
  [409, 'concurrent_update'],
  [409, 'idempotency_key_in_use'],
  [429, 'rate_limited'],
] as const)('a %i %s is not stored: a retry runs at once with the same id', async (status, code) => {
  gateway.payments.respond = () => errorResponse(status, code);
  expect((await refund('k1')).status).toBe(status);
  gateway.payments.respond = refundResponse;
  const retry = await refund('k1');
  expect(retry.status).toBe(201);
  expect(refundIds()).toEqual([idOf(retry), idOf(retry)]);
});

test('the creation of a webhook whose host DNS does not know yet can be repeated', async () => {
  const make = () =>
    shop.send(
      'POST',
      '/v1/webhooks',
      { url: 'https://new-shop.example/hooks', events: ['order:paid'] },
      { 'idempotency-key': 'k1' },
    );
  resolve = () => Promise.reject(Object.assign(new Error('no such host'), { code: 'ENOTFOUND' }));
  expect(await make()).toMatchObject({ status: 400, body: { code: 'host_not_public' } });
  resolve = publicAddress;
  expect((await make()).status).toBe(201);
});

test('a repeated webhook creation returns the same secret, and the response is stored encrypted', async () => {
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
  expect(withoutRequestId(await make())).toEqual(withoutRequestId(first));
  expect((await shop.send('GET', '/v1/webhooks')).body.total).toBe(1);
});

test('a secret rotation repeated after a crash rotates once', async () => {
  const created = await shop.send('POST', '/v1/webhooks', {
    url: 'https://shop.example/hooks',
    events: ['order:paid'],
  });
  const rotate = () =>
    shop.send('POST', `/v1/webhooks/${created.body.id}/rotate-secret`, undefined, { 'idempotency-key': 'k1' });
  const first = await rotate();
  await gateway.pool.query(
    `update gateway.idempotency_keys set status = null, answer = null, leased_until = now() where merchant_id = $1`,
    [shop.id],
  );
  expect((await rotate()).body.secret).toBe(first.body.secret);
  expect(first.body.secret).not.toBe(created.body.secret);
});
