import { newUlid } from '@cpg/platform';
import { startGateway, type TestGateway, type TestMerchant } from '../../testing/jest-gateway.ts';
import { orderOf, ordersResponse, paymentOf, projectOrder, projectPayment } from '../../testing/jest-resources.ts';
import { send } from '../../testing/jest-send.ts';

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

describe('POST /debug/orders/{id}/advance-time', () => {
  const advance = (body: unknown = { minutes: 61 }, headers = {}, id = order.id) =>
    send(gateway.app, 'POST', `/debug/orders/${id}/advance-time`, body, headers);
  beforeEach(() => {
    gateway.orders.calls.length = 0;
    gateway.orders.respond = (call) =>
      call.path.endsWith('/summary') ? ordersResponse(call) : { status: 200, body: order };
  });
  afterAll(() => void (gateway.orders.respond = ordersResponse));

  test('calls the orders service and returns the order', async () => {
    const response = await advance();
    expect([response.status, response.body]).toEqual([201, order]);
    expect(gateway.orders.calls).toMatchObject([{ path: `/orders/${order.id}/time`, body: { minutes: 61 } }]);
  });

  test.each([0, 43_201, 1.5, '5', undefined])(
    'returns 400 for %j minutes with the path of the field',
    async (minutes) => {
      const { status, body } = await advance({ minutes });
      expect({ status, path: body.details[0].path }).toEqual({ status: 400, path: 'minutes' });
    },
  );

  test('a key, if sent, must be valid and own the order', async () => {
    expect((await advance(undefined, { 'x-api-key': shop.key })).status).toBe(201);
    expect((await advance(undefined, { 'x-api-key': other.key })).status).toBe(404);
    expect((await advance(undefined, { 'x-api-key': 'x' })).status).toBe(401);
    for (const id of ['nonsense', `ord_${newUlid()}`]) expect((await advance(undefined, {}, id)).status).toBe(404);
  });
});

describe('POST /debug/test-webhook', () => {
  let id: string;
  beforeAll(async () => {
    id = (await shop.send('POST', '/v1/webhooks', { url: 'https://shop.example/', events: ['order:paid'] })).body.id;
  });
  const sendTest = (more = {}, headers = {}) =>
    send(gateway.app, 'POST', '/debug/test-webhook', { webhook_id: id, event_type: 'order:created', ...more }, headers);

  test('calls the dispatcher and returns the delivery id', async () => {
    gateway.dispatcher.calls.length = 0;
    const { status, body, headers } = await sendTest();
    expect({ status, body }).toEqual({
      status: 201,
      // The webhook is new, so it is disabled, and it is subscribed to `order:paid` alone.
      body: { delivery_id: expect.stringMatching(/^dlv_/), is_enabled: false, is_subscribed: false },
    });
    expect(headers.location).toBe(`/v1/webhooks/${id}/deliveries/${body.delivery_id}`);
    expect(gateway.dispatcher.calls[0]).toMatchObject({
      path: '/test-deliveries',
      body: { webhook_id: id, event_type: 'order:created' },
    });
  });

  test('says whether real events of the type would come', async () => {
    await shop.send('PATCH', `/v1/webhooks/${id}`, { is_enabled: true });
    expect((await sendTest({ event_type: 'order:paid' })).body).toMatchObject({
      is_enabled: true,
      is_subscribed: true,
    });
  });

  test('a key, if sent, must be valid and own the webhook', async () => {
    expect((await sendTest({}, { 'x-api-key': shop.key })).status).toBe(201);
    expect((await sendTest({}, { 'x-api-key': other.key })).status).toBe(404);
    expect((await sendTest({}, { 'x-api-key': 'x' })).status).toBe(401);
  });

  test('an unknown webhook is 404, an unknown event type 400', async () => {
    expect((await sendTest({ webhook_id: `whk_${newUlid()}` })).status).toBe(404);
    expect((await sendTest({ event_type: 'order:lost' })).status).toBe(400);
  });
});

test('production has no debug routes', async () => {
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
