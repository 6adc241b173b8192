import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderOf, paymentOf, projectOrder, projectPayment } from '../../testing/jest-resources.ts';
import { send } from '../../testing/jest-send.ts';
import { errorResponse } from '../../testing/jest-stub-service.ts';

let gateway: TestGateway;
let shop: TestMerchant;
let other: TestMerchant;
let order: ReturnType<typeof orderOf>;
let payment: ReturnType<typeof paymentOf>;

beforeAll(async () => {
  gateway = await startGateway();
  [shop, other] = [await gateway.merchant(), await gateway.merchant()];
  order = orderOf(`ord_${newUlid()}`, shop.id);
  await projectOrder(gateway.pool, order);
  payment = paymentOf(`pay_${newUlid()}`, shop.id);
  await projectPayment(gateway.pool, payment);
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.payments.calls.length = 0;
  gateway.payments.respond = () => ({ status: 201, body: { payment, order } });
});

const paymentBody = (more = {}) => ({
  order_id: order.id,
  payment_rail: 'crypto_deposit',
  amount: '1.5',
  currency: 'USDC',
  ...more,
});
const pay = (more = {}, headers = {}) =>
  send(gateway.app, 'POST', '/debug/register-payment', paymentBody(more), headers);

describe('POST /debug/register-payment', () => {
  test('reports a confirmed payment to the payments service, and returns the order', async () => {
    const { status, body, headers } = await pay({ txHash: '0xabc' });
    expect({ status, body }).toEqual({ status: 201, body: order });
    expect(headers.location).toMatch(/^\/v1\/payments\/pay_/);
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

  test('pays an order whose row a crash of PostgreSQL lost', async () => {
    const lost = orderOf(`ord_${newUlid()}`, shop.id);
    const { respond } = gateway.orders;
    const summary = {
      id: lost.id,
      merchant_id: shop.id,
      currency: 'USDC',
      status: lost.status,
      rails: ['crypto_deposit'],
    };
    gateway.orders.respond = (call) =>
      call.path === `/orders/${lost.id}/summary` ? { status: 200, body: summary } : respond(call);
    expect((await pay({ order_id: lost.id })).status).toBe(201);
    expect((await pay({ order_id: lost.id }, { 'x-api-key': other.key })).status).toBe(404);
    gateway.orders.respond = respond;
  });

  test('refuses a rail that the order does not enable, and reports nothing', async () => {
    expect((await pay({ payment_rail: 'gateway_pay' })).body).toMatchObject({
      statusCode: 409,
      code: 'rail_not_enabled',
      message: 'the order does not enable gateway_pay: send payment_rail crypto_deposit',
    });
    expect(gateway.payments.calls).toEqual([]);
  });

  test('refuses the rail also for an order whose row a crash of PostgreSQL lost', async () => {
    const lost = `ord_${newUlid()}`;
    const { respond } = gateway.orders;
    const summary = {
      id: lost,
      merchant_id: shop.id,
      currency: 'USDC',
      status: 'awaiting_payment',
      rails: ['gateway_pay'],
    };
    gateway.orders.respond = (call) =>
      call.path === `/orders/${lost}/summary` ? { status: 200, body: summary } : respond(call);
    expect((await pay({ order_id: lost })).body).toMatchObject({ statusCode: 409, code: 'rail_not_enabled' });
    gateway.orders.respond = respond;
  });

  test('reports a pending payment as unconfirmed', async () => {
    expect((await pay({ outcome: 'pending' })).status).toBe(201);
    expect(gateway.payments.calls.map(({ path, body }) => [path, (body as { confirmed: boolean }).confirmed])).toEqual([
      ['/payments', false],
    ]);
  });

  test('reports a failed payment as unconfirmed, then as failed', async () => {
    expect((await pay({ outcome: 'failed' })).body).toEqual(order);
    expect(gateway.payments.calls).toMatchObject([
      { path: '/payments', body: { confirmed: false } },
      { path: `/payments/${payment.id}/failure`, body: {} },
    ]);
  });

  test('without a hash each request is a new payment', async () => {
    await pay();
    await pay();
    const ids = gateway.payments.calls.map(({ body }) => (body as { provider_id: string }).provider_id);
    expect(new Set(ids).size).toBe(2);
  });

  test('returns the 409 of the payments service for a known hash', async () => {
    gateway.payments.respond = () => errorResponse(409, 'payment_conflict', 'this money is known with another amount');
    expect((await pay({ txHash: '0xabc' })).body).toMatchObject({
      statusCode: 409,
      code: 'payment_conflict',
      message: 'this money is known with another amount',
    });
  });
});

describe('validation of POST /debug/register-payment', () => {
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
  ])('returns 400 for %j with the path of the field', async (overrides, path) => {
    const { status, body } = await pay(overrides);
    expect({ status, path: body.details[0].path }).toEqual({ status: 400, path });
  });

  test.each(['nonsense', 'ord_00000000000000000000000000'])('an unknown order %s is 404', async (order_id) => {
    expect((await pay({ order_id })).status).toBe(404);
    expect(gateway.payments.calls).toHaveLength(0);
  });

  test('a key, if sent, must be valid and own the order', async () => {
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

  test(`with ${JSON.stringify(body)} calls the payments service, and returns the order`, async () => {
    const response = await act(payment.id);
    expect([response.status, response.body]).toEqual([201, order]);
    expect(gateway.payments.calls).toMatchObject([{ path: `/payments/${payment.id}/${internal}`, body: sent }]);
  });

  test('a key, if sent, must be valid and own the payment', async () => {
    expect((await act(payment.id, { 'x-api-key': shop.key })).status).toBe(201);
    expect((await act(payment.id, { 'x-api-key': other.key })).status).toBe(404);
    expect((await act(payment.id, { 'x-api-key': 'x' })).status).toBe(401);
    for (const id of ['nonsense', `pay_${newUlid()}`])
      expect((await act(id)).body).toMatchObject({
        statusCode: 404,
        message:
          'no payment has this id. The payment may be deleted, or belong to another merchant. An id starts with "pay_".',
      });
  });

  test('returns an error of the payments service', async () => {
    gateway.payments.respond = () => errorResponse(409, 'payment_conflict');
    expect((await act(payment.id)).body).toMatchObject({ statusCode: 409, code: 'payment_conflict' });
  });

  test('refuses an unknown field and names it', async () => {
    expect((await act(payment.id, {}, { surprise: 1 })).body.details[0].path).toBe('surprise');
  });
});
