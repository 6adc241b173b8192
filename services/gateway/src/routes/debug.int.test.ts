import { newSeed } from '../seed.ts';
import {
  orderOf,
  ordersAnswer,
  paymentOf,
  projectOrder,
  projectPayment,
  send,
  startGateway,
  type TestGateway,
  type TestMerchant,
} from '../testing/jest-gateway.ts';
import { refusal } from '../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;
let other: TestMerchant;
let order: ReturnType<typeof orderOf>;
let payment: ReturnType<typeof paymentOf>;

beforeAll(async () => {
  gateway = await startGateway();
  [shop, other] = [await gateway.merchant(), await gateway.merchant()];
  order = orderOf(`ord_${newSeed()}`, shop.id);
  await projectOrder(gateway.pool, order);
  payment = paymentOf(`pay_${newSeed()}`, shop.id);
  await projectPayment(gateway.pool, payment);
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.payments.calls.length = 0;
  gateway.payments.answer = () => ({ status: 201, body: { payment, order } });
});

describe('POST /debug/register-payment', () => {
  const body = (more = {}) => ({
    order_id: order.id,
    payment_rail: 'crypto_deposit',
    amount: '1.5',
    currency: 'USDC',
    ...more,
  });
  const pay = (more = {}, headers = {}) => send(gateway.app, 'POST', '/debug/register-payment', body(more), headers);

  test('reports confirmed money to the payments service, and answers with the order', async () => {
    const { status, body } = await pay({ txHash: '0xabc' });
    expect({ status, body }).toEqual({ status: 201, body: order });
    expect(gateway.payments.calls[0]).toMatchObject({
      method: 'POST',
      path: '/payments',
      headers: { 'x-actor': 'debug' },
    });
    expect(gateway.payments.calls[0]?.body).toEqual({
      order_id: order.id,
      rail: 'crypto_deposit',
      provider_id: '0xabc',
      tx_hash: '0xabc',
      amount: '1.5',
      currency: 'USDC',
      confirmed: true,
    });
  });

  test('a pending one is reported unconfirmed', async () => {
    expect((await pay({ outcome: 'pending' })).status).toBe(201);
    expect(gateway.payments.calls.map(({ path, body }) => [path, (body as { confirmed: boolean }).confirmed])).toEqual([
      ['/payments', false],
    ]);
  });

  test('a failed one is reported unconfirmed, then dropped', async () => {
    expect((await pay({ outcome: 'failed' })).body).toEqual(order);
    expect(gateway.payments.calls).toMatchObject([
      { path: '/payments', body: { confirmed: false } },
      { path: `/payments/${payment.id}/failure`, body: {} },
    ]);
  });

  test('without a hash it makes up other money each time', async () => {
    await pay();
    await pay();
    const ids = gateway.payments.calls.map(({ body }) => (body as { provider_id: string }).provider_id);
    expect(new Set(ids).size).toBe(2);
  });

  test('money that was reported for another order is 409, as the payments service says', async () => {
    gateway.payments.answer = () => refusal(409, 'payment_conflict', 'this money is known with another amount');
    expect((await pay({ txHash: '0xabc' })).body).toMatchObject({
      statusCode: 409,
      code: 'payment_conflict',
      message: 'this money is known with another amount',
    });
  });

  test.each([
    [{ amount: '0' }, 'amount'],
    [{ amount: '0.000000' }, 'amount'],
    [{ amount: '1.0000001' }, 'amount'],
    [{ amount: '-1' }, 'amount'],
    [{ amount: 1 }, 'amount'],
    [{ currency: 'MXN' }, 'currency'],
    [{ payment_rail: 'cash' }, 'payment_rail'],
    [{ txHash: '' }, 'txHash'],
    [{ outcome: 'lost' }, 'outcome'],
    [{ surprise: 1 }, 'surprise'],
  ])('%j is refused by name', async (more, path) => {
    const { status, body } = await pay(more);
    expect({ status, path: body.details[0].path }).toEqual({ status: 400, path });
  });

  test.each(['nonsense', 'ord_00000000000000000000000000'])('the order %s is 404', async (order_id) => {
    expect((await pay({ order_id })).status).toBe(404);
    expect(gateway.payments.calls).toHaveLength(0);
  });

  test('a key that is sent must be good and own the order', async () => {
    expect((await pay({}, { 'x-api-key': shop.key })).status).toBe(201);
    expect(gateway.payments.calls[0]?.headers['x-actor']).toMatch(/^key:/);
    expect((await pay({}, { 'x-api-key': other.key })).status).toBe(404);
    expect((await pay({}, { 'x-api-key': `ak_sandbox_${'x'.repeat(40)}` })).status).toBe(401);
  });
});

describe.each([
  ['confirm', 'confirmation', undefined, {}],
  ['confirm', 'confirmation', {}, {}],
  ['fail', 'failure', undefined, {}],
  ['fail', 'failure', {}, {}],
  ['fail', 'failure', { reason: 'reorg' }, { failure_reason: 'reorg' }],
])('POST /debug/payments/{id}/%s', (verb, internal, body, sent) => {
  const act = (id: string, headers = {}, content: unknown = body) =>
    send(gateway.app, 'POST', `/debug/payments/${id}/${verb}`, content, headers);

  test(`with ${JSON.stringify(body)} tells the payments service, and answers with the order`, async () => {
    const answer = await act(payment.id);
    expect([answer.status, answer.body]).toEqual([201, order]);
    expect(gateway.payments.calls).toMatchObject([{ path: `/payments/${payment.id}/${internal}`, body: sent }]);
  });

  test('a key that is sent must be good and own the payment', async () => {
    expect((await act(payment.id, { 'x-api-key': shop.key })).status).toBe(201);
    expect((await act(payment.id, { 'x-api-key': other.key })).status).toBe(404);
    expect((await act(payment.id, { 'x-api-key': 'x' })).status).toBe(401);
    for (const id of ['nonsense', `pay_${newSeed()}`])
      expect((await act(id)).body).toMatchObject({ statusCode: 404, message: 'no payment has this id' });
  });

  test('what the payments service refuses is refused', async () => {
    gateway.payments.answer = () => refusal(409, 'payment_conflict');
    expect((await act(payment.id)).body).toMatchObject({ statusCode: 409, code: 'payment_conflict' });
  });

  test('an unknown field is refused by name', async () => {
    expect((await act(payment.id, {}, { surprise: 1 })).body.details[0].path).toBe('surprise');
  });
});

describe('POST /debug/orders/{id}/advance-time', () => {
  const advance = (body: unknown = { minutes: 61 }, headers = {}, id = order.id) =>
    send(gateway.app, 'POST', `/debug/orders/${id}/advance-time`, body, headers);
  beforeEach(() => {
    gateway.orders.calls.length = 0;
    gateway.orders.answer = () => ({ status: 200, body: order });
  });
  afterAll(() => void (gateway.orders.answer = ordersAnswer));

  test('has the orders service put the clock forward, and answers with the order', async () => {
    const answer = await advance();
    expect([answer.status, answer.body]).toEqual([201, order]);
    expect(gateway.orders.calls).toMatchObject([{ path: `/orders/${order.id}/time`, body: { minutes: 61 } }]);
  });

  test.each([0, 43_201, 1.5, '5', undefined])('%j minutes are refused by name', async (minutes) => {
    expect((await advance({ minutes })).body.details[0].path).toBe('minutes');
  });

  test('a key that is sent must be good and own the order', async () => {
    expect((await advance(undefined, { 'x-api-key': shop.key })).status).toBe(201);
    expect((await advance(undefined, { 'x-api-key': other.key })).status).toBe(404);
    expect((await advance(undefined, { 'x-api-key': 'x' })).status).toBe(401);
    for (const id of ['nonsense', `ord_${newSeed()}`]) expect((await advance(undefined, {}, id)).status).toBe(404);
  });
});

describe('POST /debug/test-webhook', () => {
  let id: string;
  beforeAll(async () => {
    id = (await shop.send('POST', '/v1/webhooks', { url: 'https://shop.example/', events: ['order:paid'] })).body.id;
  });
  const sample = (more = {}, headers = {}) =>
    send(gateway.app, 'POST', '/debug/test-webhook', { webhook_id: id, event_type: 'order:created', ...more }, headers);

  test('has the dispatcher deliver a sample', async () => {
    gateway.dispatcher.calls.length = 0;
    const { status, body } = await sample();
    expect({ status, body }).toEqual({ status: 201, body: { delivery_id: expect.stringMatching(/^dlv_/) } });
    expect(gateway.dispatcher.calls[0]).toMatchObject({
      path: '/test-deliveries',
      body: { webhook_id: id, event_type: 'order:created' },
    });
  });

  test('a key that is sent must be good and own the webhook', async () => {
    expect((await sample({}, { 'x-api-key': shop.key })).status).toBe(201);
    expect((await sample({}, { 'x-api-key': other.key })).status).toBe(404);
    expect((await sample({}, { 'x-api-key': 'x' })).status).toBe(401);
  });

  test('an unknown webhook is 404, an unknown event type 400', async () => {
    expect((await sample({ webhook_id: `whk_${newSeed()}` })).status).toBe(404);
    expect((await sample({ event_type: 'order:lost' })).status).toBe(400);
  });
});

test('production has none of it', async () => {
  const production = await startGateway({ environment: 'production' });
  const live = await production.merchant();
  expect(live.key).toMatch(/^ak_live_/);
  expect((await live.send('GET', '/v1/orders')).status).toBe(200);
  const paths = ['register-payment', 'test-webhook', `payments/${payment.id}/fail`, `orders/${order.id}/advance-time`];
  for (const path of paths) {
    expect((await live.send('POST', `/debug/${path}`, {})).status).toBe(404);
  }
  await production.close();
});
