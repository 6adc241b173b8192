import { newSeed } from '../seed.ts';
import {
  orderOf,
  paymentOf,
  projectOrder,
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

beforeAll(async () => {
  gateway = await startGateway();
  [shop, other] = [await gateway.merchant(), await gateway.merchant()];
  order = orderOf(`ord_${newSeed()}`, shop.id);
  await projectOrder(gateway.pool, order);
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.payments.calls.length = 0;
  gateway.payments.answer = () => ({ status: 201, body: { payment: paymentOf(`pay_${newSeed()}`, shop.id), order } });
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

test('production has neither', async () => {
  const production = await startGateway({ environment: 'production' });
  const live = await production.merchant();
  expect(live.key).toMatch(/^ak_live_/);
  expect((await live.send('GET', '/v1/orders')).status).toBe(200);
  for (const path of ['/debug/register-payment', '/debug/test-webhook']) {
    expect((await live.send('POST', path, {})).status).toBe(404);
  }
  await production.close();
});
