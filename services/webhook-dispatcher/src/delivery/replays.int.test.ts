import type { DomainMessage } from '@cpg/contracts';
import { newId } from '@cpg/runtime';
import { ALL_EVENTS, type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';
import type { Instance } from './instance.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const FAST = { ordersAtOnce: 2, restMs: 20 };
const ago = (ms: number) => new Date(Date.now() - ms);
const replay = (
  instance: Instance,
  webhook: { id: string; merchantId: string },
  more: { from?: Date; to?: Date; types?: readonly string[]; id?: string } = {},
) => {
  const { from = ago(400 * DAY_MS), to = new Date(), types = ALL_EVENTS, id = `replay_${newId('event')}` } = more;
  const { id: webhookId, merchantId } = webhook;
  return instance.replay({ id, webhookId, merchantId, from, to, types });
};
/** Events of orders of a merchant, one order each, the oldest first. */
const paidOrders = (count: number, merchantId: string, newestAgoMs = 0) =>
  Array.from({ length: count }, (_, n) =>
    message({ type: 'order.paid', merchantId, time: ago(newestAgoMs + (count - n) * 60_000).toISOString() }),
  );
const happen = (events: readonly DomainMessage[]) => void system.past.happened.push(...events);
const ids = (events: readonly { id: string }[]) => events.map(({ id }) => id);
const keys = () => receiver.received.map(({ headers }) => headers['x-idempotency-key']);
const enable = (id: string, on = true) =>
  system.pool.query('update gateway.webhooks set is_enabled = $2 where id = $1', [id, on]);
const allDelivered = (count: number) =>
  system.eventually(
    `select 1 from webhooks.deliveries having bool_and(status = 'delivered') and count(*) = ${count}
     and (select count(*) from webhooks.queue) = 0`,
  );
const finished = (count = 1) =>
  system.eventually(`select 1 from webhooks.replays where finished_at is not null having count(*) = ${count}`);
const rowsOf = async (sql: string) => (await system.pool.query(sql)).rows;
const dayOf = (at: Date) => at.toISOString().slice(0, 10);

test('what happened before the merchant had any webhook is delivered, of each order and its payments in the order in which it happened', async () => {
  const { instance } = await system.start({ replays: FAST });
  const webhook = await system.webhook(receiver.url);
  const orderId = newId('order');
  const of = (type: 'order.created' | 'order.updated' | 'order.paid' | 'payment.applied', minutesAgo: number) =>
    message({ type, merchantId: webhook.merchantId, orderId, time: ago(minutesAgo * 60_000).toISOString() });
  // More than one page of orders and of payments, entangled.
  const events = [
    of('order.created', 90),
    ...Array.from({ length: 12 }, (_, n) => of(n % 3 === 2 ? 'payment.applied' : 'order.updated', 80 - n)),
    ...Array.from({ length: 7 }, (_, n) => of('payment.applied', 60 - n)),
    of('order.paid', 10),
  ];
  happen([...events].reverse());
  await replay(instance, webhook);
  await allDelivered(events.length);
  expect(keys()).toEqual(ids(events));
});

test('an event that was delivered is delivered again: same key, same bytes, one attempt more', async () => {
  const { consume, instance } = await system.start({ replays: FAST });
  const webhook = await system.webhook(receiver.url);
  const paid = message({ type: 'order.paid', merchantId: webhook.merchantId });
  await consume([paid]);
  await allDelivered(1);
  happen([paid]);
  await replay(instance, webhook);
  const [first, second] = await receiver.arrived(2);
  expect(second!.body).toBe(first!.body);
  for (const name of ['x-idempotency-key', 'x-delivery-id', 'x-sequence', 'x-timestamp'])
    expect(second!.headers[name]).toBe(first!.headers[name]);
  await system.eventually(`select 1 from webhooks.deliveries where status = 'delivered' and attempts = 2`);
  expect(await rowsOf('select number from webhooks.attempts order by number')).toEqual([{ number: 1 }, { number: 2 }]);
});

test('what is too old to be kept under its own day is kept from today on, as one delivery with all of its attempts', async () => {
  const { consume, instance } = await system.start({ replays: FAST });
  const webhook = await system.webhook(receiver.url);
  const { merchantId } = webhook;
  const [yearOld, kept] = [390, 20].map((days) =>
    message({ type: 'order.paid', merchantId, time: ago(days * DAY_MS).toISOString() }),
  ) as [DomainMessage, DomainMessage];
  await consume([kept]);
  await allDelivered(1);
  const [{ id }] = await rowsOf('select id from webhooks.deliveries');
  happen([yearOld, kept]);
  for (const times of [1, 2]) {
    await replay(instance, webhook);
    await finished(times);
    await allDelivered(2);
  }
  const today = dayOf(new Date());
  const deliveries = await rowsOf(
    'select id, event_id, day::text, attempts from webhooks.deliveries order by attempts',
  );
  expect(deliveries).toEqual([
    { id: expect.any(String), event_id: yearOld.id, day: today, attempts: 2 },
    { id, event_id: kept.id, day: today, attempts: 3 },
  ]);
  expect(
    await rowsOf(`select number, day::text from webhooks.attempts where delivery_id = '${id}' order by number`),
  ).toEqual([1, 2, 3].map((number) => ({ number, day: today })));
  const bodies = receiver.received.filter(({ headers }) => headers['x-idempotency-key'] === kept.id);
  expect(new Set(bodies.map(({ body }) => body)).size).toBe(1);
});

test('only the range, the types and the merchant that were asked for', async () => {
  const { instance } = await system.start({ replays: FAST });
  const webhook = await system.webhook(receiver.url);
  const at = (hours: number, type: 'order.paid' | 'order.created' = 'order.paid', merchantId = webhook.merchantId) =>
    message({ type, merchantId, time: ago(hours * HOUR_MS).toISOString() });
  const [early, first, last, late] = [at(5), at(4), at(3), at(2)];
  const stranger = newId('merchant');
  const misplaced = { ...at(3, 'order.paid', stranger), orderid: first.orderid };
  happen([early, first, last, late, at(3, 'order.created'), at(3, 'order.paid', stranger), misplaced]);
  await replay(instance, webhook, { from: new Date(first.time), to: new Date(last.time), types: ['order:paid'] });
  await finished();
  await allDelivered(2);
  expect(keys().sort()).toEqual(ids([first, last]).sort());
});

test('it goes on where another instance left off, and each event is queued once', async () => {
  const pace = { ...FAST, waitingAtMost: 10 };
  // The endpoint is away, so what is queued stays.
  receiver.answer = respond(500);
  const first = await system.start({ schedule: [3_600], replays: pace });
  const webhook = await system.webhook(receiver.url);
  const events = paidOrders(60, webhook.merchantId);
  happen(events);
  await replay(first.instance, webhook);
  await system.eventually('select 1 from webhooks.deliveries having count(*) >= 10');
  await first.instance.stop(0);
  expect(Number((await rowsOf('select count(*) from webhooks.queue'))[0].count)).toBeLessThan(60);

  receiver.answer = respond(200);
  await system.pool.query('update webhooks.queue set due_at = now()');
  await system.start({ replays: pace });
  await finished();
  await allDelivered(60);
  const delivered = await rowsOf(
    `select event_id from webhooks.deliveries d join webhooks.attempts a on a.delivery_id = d.id where a.outcome = 'delivered'`,
  );
  expect(delivered.map(({ event_id }) => event_id).sort()).toEqual(ids(events).sort());
  expect(await rowsOf('select events from webhooks.replays')).toEqual([{ events: 60 }]);
});

test('the turn of an instance that was thought dead meanwhile comes to nothing', async () => {
  const webhook = await system.webhook(receiver.url);
  happen(paidOrders(2, webhook.merchantId));
  let goOn = () => {};
  const held = new Promise<void>((done) => (goOn = done));
  let calls = 0;
  system.past.setBefore(() => ((calls += 1) === 1 ? held : Promise.resolve()));
  const slow = await system.start({ replays: FAST });
  await replay(slow.instance, webhook);
  await system.eventually('select 1 from webhooks.replays where leased_by is not null');
  await system.start({ replays: FAST });
  expect(calls).toBe(1);
  await system.letLeasesRunOut();
  await finished();
  await allDelivered(2);
  goOn();
  await slow.instance.stop(0);
  expect(await rowsOf('select events from webhooks.replays')).toEqual([{ events: 2 }]);
  expect(receiver.received).toHaveLength(2);
});

test('while orders is away it waits, and deliveries go on', async () => {
  const { instance, consume } = await system.start({ replays: FAST });
  const webhook = await system.webhook(receiver.url);
  const old = paidOrders(3, webhook.merchantId, HOUR_MS);
  happen(old);
  system.past.setAway(true);
  await replay(instance, webhook);
  await system.eventually('select 1 from webhooks.replays where failures >= 2 and leased_by is null');
  const news = message({ type: 'order.paid', merchantId: webhook.merchantId });
  await consume([news]);
  await allDelivered(1);
  system.past.setAway(false);
  await finished();
  await allDelivered(4);
  expect(keys().slice(1).sort()).toEqual(ids(old).sort());
  expect(await rowsOf('select failures from webhooks.replays')).toEqual([{ failures: 0 }]);
});

test('it ends when the webhook is disabled', async () => {
  receiver.answer = respond(500);
  const { instance } = await system.start({ schedule: [3_600], replays: { ...FAST, waitingAtMost: 2 } });
  const webhook = await system.webhook(receiver.url);
  happen(paidOrders(10, webhook.merchantId));
  await replay(instance, webhook);
  await enable(webhook.id, false);
  await finished();
  expect(Number((await rowsOf('select count(*) from webhooks.deliveries'))[0].count)).toBeLessThan(10);
});

test('what waits for a retry is tried at once, with its whole schedule before it', async () => {
  const { consume, instance } = await system.start({ schedule: [3_600], replays: FAST });
  const webhook = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  const paid = message({ type: 'order.paid', merchantId: webhook.merchantId });
  await consume([paid]);
  await system.eventually('select 1 from webhooks.queue where attempts = 1 and leased_by is null');
  happen([paid]);
  await replay(instance, webhook);
  await system.eventually(
    `select 1 from webhooks.deliveries d join webhooks.queue q on q.delivery_id = d.id
     where d.status = 'pending' and d.attempts = 2 and q.attempts = 1 and q.attempts_before = 1`,
  );
  expect(receiver.received).toHaveLength(2);
});

test('what an instance has in its hands is left alone', async () => {
  const { consume, instance } = await system.start({ replays: FAST });
  const webhook = await system.webhook(receiver.url);
  const answering: (() => void)[] = [];
  receiver.answer = (_request, response) => void answering.push(() => response.end());
  const paid = message({ type: 'order.paid', merchantId: webhook.merchantId, time: ago(20 * DAY_MS).toISOString() });
  await consume([paid]);
  await receiver.arrived(1);
  happen([paid]);
  await replay(instance, webhook);
  await finished();
  answering.shift()!();
  await allDelivered(1);
  expect(receiver.received).toHaveLength(1);
});

test('the same request again is the same replay; another one waits until it is done', async () => {
  system.past.setAway(true);
  const { instance } = await system.start({ replays: FAST });
  const webhook = await system.webhook(receiver.url);
  const id = 'replay_of_the_test';
  const one = await replay(instance, webhook, { id });
  const [again] = await rowsOf('select created_at from webhooks.replays');
  expect(await replay(instance, webhook, { id })).toMatchObject({ id, from_at: one!.from_at, ...again });
  expect(await replay(instance, webhook)).toBeNull();
});

test('an order that was deleted after it was told is not delivered', async () => {
  const { consume, instance } = await system.start({ replays: FAST });
  const webhook = await system.webhook(receiver.url);
  const [merchantId, orderId] = [webhook.merchantId, newId('order')];
  const paid = message({ type: 'order.paid', merchantId, orderId });
  const other = message({ type: 'order.paid', merchantId });
  await consume([message({ type: 'order.deleted', merchantId, orderId })]);
  happen([paid, other]);
  await replay(instance, webhook);
  await finished();
  await allDelivered(1);
  expect(keys()).toEqual([other.id]);
});
