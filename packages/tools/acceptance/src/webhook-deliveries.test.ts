import type { CreateWebhookDto, Order, WebhookEventType } from '@cpg/contracts';
import { openShop, type Shop } from './harness/merchants.ts';
import { orderBody } from './harness/order-bodies.ts';
import { type Attempt, hasValidXSignature, type Receiver, startReceiver, verifyDelivery } from './harness/receiver.ts';
import { sharedStack } from './harness/stack-files.ts';
import { until } from './harness/until.ts';

const stack = sharedStack();
const ALL: WebhookEventType[] = [
  'order:created',
  'order:updated',
  'order:paid',
  'payment:applied',
  'payment:failed',
  'payment:refunded',
];
let shop: Shop;
let receiver: Receiver;

beforeAll(async () => {
  [shop, receiver] = await Promise.all([openShop(stack), startReceiver()]);
});
// A merchant can have 20 webhooks at most.
afterEach(async () => {
  const { items } = await shop.api.webhooks({ limit: 100 });
  for (const { id } of items) await shop.api.deleteWebhook(id);
});
afterAll(() => Promise.all([shop.api.close(), receiver.close()]));

let endpoints = 0;

/** Creates and enables a webhook with its own endpoint. */
const subscribe = async (events: WebhookEventType[] = ALL, more: Pick<CreateWebhookDto, 'label' | 'filter'> = {}) => {
  const path = `/endpoint-${(endpoints += 1)}`;
  const { id, secret } = await shop.api.createWebhook({ url: receiver.urlOf(path), events, ...more });
  await shop.api.updateWebhook(id, { is_enabled: true });
  return { id, secret, path };
};
const pay = ({ id }: Order, amount: string) =>
  shop.api.pay({ order_id: id, payment_rail: 'gateway_pay', amount, currency: 'USDT' });
const eventOf = ({ rawBody }: Attempt) => JSON.parse(rawBody).event as string;
const dataOf = ({ rawBody }: Attempt) => JSON.parse(rawBody).data;

test('the events of an order arrive in order, signed in both formats, with the data the API returned', async () => {
  const { path, secret } = await subscribe();
  const created = await shop.api.createOrder(orderBody());
  const partly = await pay(created, '4');
  const paid = await pay(created, '6');
  const attempts = await receiver.attempts(path, 8);

  const payloads = attempts.map((attempt) => verifyDelivery(attempt, secret));
  const aboutOrder = payloads.filter(({ object_type }) => object_type === 'order');
  expect(aboutOrder.map(({ event, data }) => [event, data])).toEqual([
    ['order:created', created],
    ['order:updated', expect.objectContaining({ payments: [expect.objectContaining({ status: 'received' })] })],
    ['order:updated', partly],
    ['order:updated', expect.objectContaining({ status: 'partially_paid' })],
    ['order:updated', expect.objectContaining({ status: 'paid' })],
    ['order:paid', paid],
  ]);
  const aboutPayments = payloads.filter(({ object_type }) => object_type === 'payment');
  expect(aboutPayments.map(({ event, data }) => [event, data])).toEqual([
    ['payment:applied', partly.payments[0]],
    ['payment:applied', paid.payments[1]],
  ]);
});

test('money that must go back is announced', async () => {
  const { path } = await subscribe(['order:updated']);
  const order = await shop.api.createOrder(orderBody());
  await pay(order, '10');
  const shown = await pay(order, '3');
  expect(shown).toMatchObject({ status: 'paid', due_back_amount: '3.000000' });
  expect(shown.payments[1]).toMatchObject({ status: 'orphan', orphan_reason: 'already_paid' });
  const attempts = await receiver.attempts(path, 4);
  expect(dataOf(attempts.at(-1)!)).toEqual(shown);
});

test('money that needs a decision is announced, with how the merchant knows its order', async () => {
  const { path, secret } = await subscribe(['payment:received', 'payment:orphaned', 'payment:applied']);
  const create = () => shop.api.createOrder(orderBody({ external_reference_id: 'cart-7', metadata: { shop: 'b2c' } }));
  const [paid, canceled] = [await create(), await create()];
  await shop.api.updateOrder(canceled.id, { metadata: { step: 2 } });
  await shop.api.cancel(canceled.id);

  const { payments: first } = await pay(paid, '10');
  const { payments: second } = await pay(paid, '3');
  const { payments: late } = await pay(canceled, '10');
  const payloads = (await receiver.attempts(path, 6)).map((attempt) => verifyDelivery(attempt, secret));
  const about = (paymentId: string) =>
    payloads.flatMap((payload) =>
      payload.object_type === 'payment' && payload.data.id === paymentId
        ? [[payload.event, payload.data.orphan_reason, payload.order]]
        : [],
    );
  const order = { external_reference_id: 'cart-7', metadata: { shop: 'b2c' } };
  expect(about(first[0]!.id)).toEqual([
    ['payment:received', undefined, order],
    ['payment:applied', undefined, order],
  ]);
  expect(about(second[1]!.id)).toEqual([
    ['payment:received', undefined, order],
    ['payment:orphaned', 'already_paid', order],
  ]);
  const changed = { ...order, metadata: { shop: 'b2c', step: 2 } };
  expect(about(late[0]!.id)).toEqual([
    ['payment:received', undefined, changed],
    ['payment:orphaned', 'canceled', changed],
  ]);
});

test('the webhooks of two shops of one merchant get the events of their own orders, also in a replay', async () => {
  const events: WebhookEventType[] = ['order:created', 'order:paid', 'payment:applied'];
  const [b2c, b2b] = [
    await subscribe(events, { label: 'Consumers', filter: { shop: 'b2c' } }),
    await subscribe(events, { label: 'Companies', filter: { shop: 'b2b' } }),
  ];
  const all = await subscribe(['order:paid']);
  const before = new Date();
  const sell = async (metadata: Record<string, string>) => {
    const order = await shop.api.createOrder(orderBody({ metadata }));
    await pay(order, '10');
    return order.id;
  };
  const ofB2c = await sell({ shop: 'b2c' });
  const ofNone = await sell({ table: 'B7' });
  const ofB2b = await sell({ shop: 'b2b' });

  /** Events and their orders, sorted: between those of an order and those of its payments there is no order. */
  const eventsAt = async (path: string, count: number) =>
    (await receiver.attempts(path, count))
      .map((attempt) => `${eventOf(attempt)} ${dataOf(attempt).order_id ?? dataOf(attempt).id}`)
      .sort();
  const allOf = (...ids: string[]) => ids.flatMap((id) => events.map((event) => `${event} ${id}`)).sort();
  expect(await eventsAt(all.path, 3)).toEqual([ofB2c, ofNone, ofB2b].map((id) => `order:paid ${id}`).sort());
  expect(await eventsAt(b2c.path, 3)).toEqual(allOf(ofB2c));
  expect(await eventsAt(b2b.path, 3)).toEqual(allOf(ofB2b));

  await shop.api.updateWebhook(b2c.id, { filter: { shop: 'b2b' } });
  const range = { from_date: before.toISOString(), to_date: new Date().toISOString() };
  const { id: replayId } = await shop.api.replay(b2c.id, range);
  expect(await eventsAt(b2c.path, 6)).toEqual(allOf(ofB2c, ofB2b));
  await until('the replay is done', async () => (await shop.api.replayOf(b2c.id, replayId)).status === 'done');
  expect((await shop.api.replayOf(b2c.id, replayId)).queued_events).toBe(3);
  expect((await shop.api.deliveries(b2c.id)).total).toBe(6);
  expect((await shop.api.deliveries(b2b.id)).total).toBe(3);
});

test('a delivery has the headers of the API reference', async () => {
  const { path } = await subscribe(['order:created']);
  const order = await shop.api.createOrder(orderBody());
  const [attempt] = await receiver.attempts(path, 1);
  const { timestamp } = JSON.parse(attempt!.rawBody);
  const [recorded] = (await shop.api.history(order.id)).items;
  expect(timestamp).toBe(Date.parse(order.created_at!));
  expect(attempt!.headers).toMatchObject({
    'content-type': 'application/json',
    'x-timestamp': String(timestamp),
    'x-idempotency-key': expect.stringMatching(/^evt_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
    'x-signature': expect.stringMatching(/^t=\d{10},v1=[0-9a-f]{64}$/),
    'webhook-id': attempt!.headers['x-idempotency-key'],
    'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    'x-sequence': '0',
    'x-event-hash': recorded!.hash,
    'x-delivery-id': expect.stringMatching(/^dlv_/),
    'user-agent': expect.stringMatching(/./),
  });
});

test('only subscribed events are delivered, and none while the webhook is disabled', async () => {
  const [all, paidOnly, disabled] = [await subscribe(), await subscribe(['order:paid']), await subscribe()];
  await shop.api.updateWebhook(disabled.id, { is_enabled: false });
  const order = await shop.api.createOrder(orderBody());
  await pay(order, '10');
  const [attempt] = await receiver.attempts(paidOnly.path, 1);
  expect(dataOf(attempt!)).toMatchObject({ id: order.id, status: 'paid' });

  // All events of the first order are handled: the next event is the first that the enabled webhook may get.
  await receiver.attempts(all.path, 5);
  await shop.api.updateWebhook(disabled.id, { is_enabled: true });
  const next = await shop.api.createOrder(orderBody());
  const [first] = await receiver.attempts(disabled.path, 1);
  expect(dataOf(first!)).toEqual(next);
  expect(receiver.attemptsOn(paidOnly.path).map(eventOf)).toEqual(['order:paid']);
});

test('changes of metadata, deadline and status are delivered', async () => {
  const { path, secret } = await subscribe();
  const created = await shop.api.createOrder(orderBody());
  const renamed = await shop.api.updateOrder(created.id, { metadata: { table: 4 } });
  const prolonged = await shop.api.updateOrder(created.id, { expiration_minutes: 120 });
  const canceled = await shop.api.cancel(created.id);
  const attempts = await receiver.attempts(path, 4);
  expect(attempts.map((attempt) => verifyDelivery(attempt, secret)).map(({ event, data }) => [event, data])).toEqual([
    ['order:created', created],
    ['order:updated', renamed],
    ['order:updated', prolonged],
    ['order:updated', canceled],
  ]);
  const sequence = attempts.map(({ headers }) => Number(headers['x-sequence']));
  expect(sequence).toEqual([...sequence].sort((a, b) => a - b));
});

test('a failed attempt is retried with the same bytes and the same key', async () => {
  const { path, secret } = await subscribe(['order:created']);
  receiver.answer(path, (_, index) => [500, 302, 204][index] ?? 204);
  await shop.api.createOrder(orderBody());
  const attempts = await receiver.attempts(path, 3);
  for (const attempt of attempts) {
    verifyDelivery(attempt, secret);
    expect(attempt.rawBody).toBe(attempts[0]!.rawBody);
    for (const name of [
      'x-idempotency-key',
      'x-timestamp',
      'x-delivery-id',
      'x-sequence',
      'x-event-hash',
      'webhook-id',
    ])
      expect([name, attempt.headers[name]]).toEqual([name, attempts[0]!.headers[name]]);
  }
});

test('a failing event does not block later events of its order', async () => {
  const { path } = await subscribe();
  receiver.answer(path, (attempt) => (eventOf(attempt) === 'order:created' ? 503 : 204));
  const order = await shop.api.createOrder(orderBody());
  await shop.api.cancel(order.id);
  const attempts = await receiver.attempts(path, 3);
  expect(attempts.slice(0, 2).map(eventOf)).toEqual(['order:created', 'order:updated']);
  expect(eventOf(attempts[2]!)).toBe('order:created');
});

test('a hanging endpoint does not delay others', async () => {
  const slow = await subscribe();
  const quick = await subscribe();
  receiver.answer(slow.path, () => 'hang');
  const orders = await Promise.all(Array.from({ length: 5 }, () => shop.api.createOrder(orderBody())));
  const attempts = await receiver.attempts(quick.path, 5);
  expect(new Set(attempts.map(dataOf).map(({ id }) => id))).toEqual(new Set(orders.map(({ id }) => id)));
});

test('each webhook of the merchant gets an event under the same key, and no other merchant gets it', async () => {
  const [one, two] = [await subscribe(['order:created']), await subscribe(['order:created'])];
  const other = await openShop(stack);
  const { id } = await other.api.createWebhook({ url: receiver.urlOf('/other'), events: ALL });
  await other.api.updateWebhook(id, { is_enabled: true });
  await shop.api.createOrder(orderBody());
  const [[first], [second]] = await Promise.all([receiver.attempts(one.path, 1), receiver.attempts(two.path, 1)]);
  expect(first!.headers['x-idempotency-key']).toBe(second!.headers['x-idempotency-key']);
  expect(first!.rawBody).toBe(second!.rawBody);
  verifyDelivery(first!, one.secret);
  expect(() => verifyDelivery(first!, two.secret)).toThrow();
  const theirs = await other.api.createOrder(orderBody());
  const [received] = await receiver.attempts('/other', 1);
  expect(dataOf(received!)).toEqual(theirs);
  await other.api.close();
});

test('both secrets verify during a rotation', async () => {
  const { id, path, secret } = await subscribe(['order:created']);
  const { secret: next } = await shop.api.rotateSecret(id);
  // A dispatcher may use cached secrets for a moment: the old secret must verify from the first delivery on.
  await shop.api.createOrder(orderBody());
  const [attempt] = await receiver.attempts(path, 1);
  expect(hasValidXSignature(attempt!, secret)).toBe(true);
  await shop.api.createOrder(orderBody());
  const both = (await receiver.attempts(path, 2))[1]!;
  for (const key of [secret, next]) verifyDelivery(both, key);
  expect(both.headers['x-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/);
});

test('a webhook that answers 410 is disabled with a reason', async () => {
  const { id, path } = await subscribe(['order:created']);
  receiver.answer(path, () => 410);
  await shop.api.createOrder(orderBody());
  await receiver.attempts(path, 1);
  const webhook = await until('the webhook to be disabled', async () => {
    const found = await shop.api.webhook(id);
    return !found.is_enabled && found;
  });
  expect(webhook.disabled_reason).toMatch(/410/);
});

test('queued deliveries of a deleted webhook are dropped', async () => {
  const { id, path } = await subscribe(['order:created']);
  receiver.answer(path, () => 500);
  await shop.api.createOrder(orderBody());
  await receiver.attempts(path, 1);
  await shop.api.deleteWebhook(id);
  const after = receiver.attemptsOn(path).length;
  const { path: later } = await subscribe(['order:created']);
  receiver.answer(later, (_, index) => (index < 3 ? 500 : 204));
  await shop.api.createOrder(orderBody());
  // A dispatcher knows of the deletion after two seconds, in which two retries fit. By the third retry of the later
  // webhook, the deleted one would have had its third one too.
  await receiver.attempts(later, 4);
  expect(receiver.attemptsOn(path).length).toBeLessThanOrEqual(after + 2);
});

describe('a test delivery', () => {
  test.each(ALL)('of %s is a sample marked as a test', async (event) => {
    const { id, path, secret } = await subscribe(['order:paid']);
    const { delivery_id } = await shop.api.testWebhook(id, event);
    const [attempt] = await receiver.attempts(path, 1);
    const payload = verifyDelivery(attempt!, secret);
    expect(payload).toMatchObject({ event, object_type: event.split(':')[0], data: { metadata: { test: true } } });
    expect(payload.data.merchant_id).toBe(shop.id);
    expect(attempt!.headers['x-delivery-id']).toBe(delivery_id);
  });

  test('is also sent to a disabled webhook', async () => {
    const { id, path } = await subscribe();
    await shop.api.updateWebhook(id, { is_enabled: false });
    await shop.api.testWebhook(id, 'order:paid');
    expect(dataOf((await receiver.attempts(path, 1))[0]!)).toMatchObject({ metadata: { test: true } });
  });

  test('of an unknown event is refused', async () => {
    const { id } = await subscribe();
    const answer = await shop.api.send('POST', '/debug/test-webhook', {
      body: { webhook_id: id, event_type: 'order:lost' },
    });
    expect(answer).toMatchObject({ status: 400, body: { details: [{ path: 'event_type' }] } });
  });
});
