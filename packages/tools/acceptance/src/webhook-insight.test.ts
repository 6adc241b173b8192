import type { WebhookEventType } from '@cpg/contracts';
import { waitUntilConsumed } from './harness/kafka-log.ts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { type Receiver, startReceiver, verifyDelivery } from './harness/receiver.ts';
import { sharedStack } from './harness/stack-files.ts';
import { until } from './harness/until.ts';

const stack = sharedStack();
const EVENTS: WebhookEventType[] = ['order:created', 'order:updated', 'order:paid'];
let shop: Shop;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(async () => {
  shop = await openShop(stack);
});
afterEach(() => shop.api.close());

const subscribe = async (path: string, enabled = true, events = EVENTS) => {
  const { id, secret } = await shop.api.createWebhook({ url: receiver.urlOf(path), events });
  if (enabled) await shop.api.updateWebhook(id, { is_enabled: true });
  return { id, secret };
};
const delivered = (webhookId: string, attempts: number) =>
  until(`a delivery after ${attempts} attempts`, async () => {
    const { items } = await shop.api.deliveries(webhookId, { status: 'delivered' });
    return items.find(({ attempt_count }) => attempt_count === attempts);
  });

test('a merchant sees each attempt of a delivery', async () => {
  receiver.answer('/seen', (_, index) => (index === 0 ? { status: 500 } : 204));
  const { id, secret } = await subscribe('/seen');
  const order = await shop.api.createOrder(orderBody());
  const { id: deliveryId } = await delivered(id, 2);
  const delivery = await shop.api.delivery(id, deliveryId);
  expect(delivery).toMatchObject({
    event_type: 'order:created',
    status: 'delivered',
    attempts: [
      { number: 1, outcome: 'refused', status_code: 500 },
      { number: 2, outcome: 'delivered', status_code: 204 },
    ],
  });
  const [attempt] = receiver.attemptsOn('/seen');
  expect(delivery.payload).toEqual(verifyDelivery(attempt!, secret));
  expect(delivery.payload).toMatchObject({ data: order });
  expect(delivery.event_id).toBe(attempt!.headers['x-idempotency-key']);
});

test('the deliveries of all webhooks are one list, with the HTTP status of their last attempts', async () => {
  const [ok, gone] = [await subscribe('/ok'), await subscribe('/unwell')];
  receiver.answer('/unwell', () => ({ status: 500 }));
  await shop.api.createOrder(orderBody());
  await delivered(ok.id, 1);
  const failing = await until('a failed attempt', async () => {
    const { body } = await shop.api.send('GET', '/v1/deliveries?last_status_code=500');
    return body.total === 1 && body.items[0];
  });
  expect(failing).toMatchObject({ webhook_id: gone.id, status: 'pending', last_status_code: 500 });
  const { body } = await shop.api.send(
    'GET',
    '/v1/deliveries?status=pending&status=delivered&event_type=order:created',
  );
  expect(body.items.map(({ webhook_id }: { webhook_id: string }) => webhook_id).sort()).toEqual(
    [ok.id, gone.id].sort(),
  );
});

test('a delivered event can be redelivered with the same bytes', async () => {
  const { id } = await subscribe('/again');
  await shop.api.createOrder(orderBody());
  const first = await delivered(id, 1);
  expect(await shop.api.redeliver(id, first.id)).toMatchObject({ id: first.id });
  const [one, two] = await receiver.attempts('/again', 2);
  expect(two!.rawBody).toBe(one!.rawBody);
  expect(two!.headers['x-idempotency-key']).toBe(one!.headers['x-idempotency-key']);
  await delivered(id, 2);
});

test('a replay delivers events from before the webhook existed, in order, signed with its secret', async () => {
  const from_date = new Date().toISOString();
  const order = await shop.api.createOrder(orderBody());
  await shop.api.pay({ order_id: order.id, payment_rail: 'gateway_pay', amount: '10', currency: 'USDT' });
  const last = await shop.api.createOrder(orderBody());
  const deleted = await shop.api.createOrder(orderBody());
  await shop.api.deleteOrder(deleted.id);
  await waitUntilConsumed('webhook-dispatcher', stack.kafkaBrokers);

  const { id, secret } = await subscribe('/late', true, [...EVENTS, 'payment:applied']);
  const {
    id: replayId,
    to_date,
    ...answer
  } = await shop.api.replay(id, { from_date, to_date: '2999-01-01T00:00:00Z' });
  expect(answer).toMatchObject({ webhook_id: id, from_date, event_types: [...EVENTS, 'payment:applied'] });
  expect(Date.parse(to_date)).toBeLessThanOrEqual(Date.now());
  const attempts = await receiver.attempts('/late', 6);
  const done = await until('the replay to be done', async () => {
    const replay = await shop.api.replayOf(id, replayId);
    return replay.status === 'done' && replay;
  });
  expect(done).toMatchObject({ queued_events: 6, deferred_orders: 0 });
  const payloads = attempts.map((attempt) => verifyDelivery(attempt, secret));
  expect(payloads.filter(({ data }) => data.id === order.id).map(({ event }) => event)).toEqual([
    'order:created',
    'order:updated',
    'order:updated',
    'order:paid',
  ]);
  expect(payloads.filter(({ data }) => data.id === last.id).map(({ event }) => event)).toEqual(['order:created']);
  expect(payloads.find(({ data }) => data.id === last.id)!.data).toEqual(last);
  const paid = await shop.api.order(order.id);
  expect(payloads.find(({ event }) => event === 'payment:applied')!.data).toEqual(paid.payments[0]);
});

test('a replay delivers the same bytes again, to the same webhook and to another one', async () => {
  const first = await subscribe('/first');
  const order = await shop.api.createOrder(orderBody({ metadata: { 2: 'b', 1: 'a', ü: ['€'] } }));
  await shop.api.pay({ order_id: order.id, payment_rail: 'gateway_pay', amount: '10', currency: 'USDT' });
  const bodies = new Map(
    (await receiver.attempts('/first', 4)).map(({ headers, rawBody }) => [headers['x-idempotency-key'], rawBody]),
  );
  await until(
    'all deliveries to be recorded',
    async () => (await shop.api.deliveries(first.id, { status: 'delivered' })).total === 4,
  );
  const second = await subscribe('/second');
  const range = { from_date: '0000-01-01T00:00:00Z', to_date: '9999-12-31T23:59:59Z' };
  await shop.api.replay(first.id, range);
  await shop.api.replay(second.id, range);
  const again = [...(await receiver.attempts('/first', 8)), ...(await receiver.attempts('/second', 4))];
  for (const { headers, rawBody } of again) expect(rawBody).toBe(bodies.get(headers['x-idempotency-key']));
  const deliveries = new Set(receiver.attemptsOn('/first').map(({ headers }) => headers['x-delivery-id']));
  expect(deliveries.size).toBe(4);
});

test('a replay delivers events that fell due while the webhook was disabled', async () => {
  receiver.answer('/off', () => 500);
  const { id } = await subscribe('/off');
  const from_date = new Date().toISOString();
  await shop.api.createOrder(orderBody());
  await receiver.attempts('/off', 1);
  await shop.api.updateWebhook(id, { is_enabled: false });
  const failed = await until(
    'the delivery to fail',
    async () => (await shop.api.deliveries(id, { status: 'failed' })).items[0],
  );
  const refused = await shop.api.send('POST', `/v1/webhooks/${id}/deliveries/${failed.id}/redeliver`);
  expect(refused).toMatchObject({ status: 409, body: { code: 'webhook_disabled' } });
  receiver.answer('/off', () => 204);
  await shop.api.updateWebhook(id, { is_enabled: true });
  await shop.api.replay(id, { from_date, to_date: new Date().toISOString() });
  const found = await until('the delivery to succeed', async () => {
    const { items } = await shop.api.deliveries(id, { status: 'delivered' });
    return items[0];
  });
  expect(found.id).toBe(failed.id);
});
