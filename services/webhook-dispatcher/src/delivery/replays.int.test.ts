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
const ago = (ms: number) => new Date(Date.now() - ms);
const replay = (
  instance: Instance,
  webhook: { id: string; merchantId: string },
  more: { from?: Date; to?: Date; types?: readonly string[]; id?: string } = {},
) => {
  const { from = ago(24 * HOUR_MS), to = new Date(), types = ALL_EVENTS, id = `replay_${newId('event')}` } = more;
  const { id: webhookId, merchantId } = webhook;
  return instance.replay({ id, webhookId, merchantId, from, to, types, keptSince: ago(30 * 24 * HOUR_MS) });
};
const keys = () => receiver.received.map(({ headers }) => headers['x-idempotency-key']);
const enable = (id: string, on = true) =>
  system.pool.query('update gateway.webhooks set is_enabled = $2 where id = $1', [id, on]);
const allDelivered = (count: number) =>
  system.eventually(
    `select 1 from webhooks.deliveries having bool_and(status = 'delivered') and count(*) = ${count}
     and (select count(*) from webhooks.queue) = 0`,
  );
const finished = () => system.eventually('select 1 from webhooks.replays where finished_at is not null');

test('what happened before there was this webhook, and while it was disabled, is delivered in the order of each order', async () => {
  const { consume, instance } = await system.start();
  const [merchantId, orderId] = [newId('merchant'), newId('order')];
  const of = (type: 'order.created' | 'order.updated' | 'order.paid', minutesAgo: number, sequence: string) =>
    message({ type, merchantId, orderId, sequence, time: ago(minutesAgo * 60_000).toISOString() });
  const before = [of('order.created', 50, '0'), of('order.updated', 40, '9'), of('order.paid', 40, '10')];
  await system.webhook(receiver.url, { merchantId, isEnabled: false });
  await consume(before);
  const webhook = await system.webhook(receiver.url, { merchantId, isEnabled: false });
  const meanwhile = [of('order.updated', 20, '11'), of('order.updated', 10, '12')];
  await consume(meanwhile);
  await enable(webhook.id);

  expect(await replay(instance, webhook)).toMatchObject({ events: 5 });
  await allDelivered(5);
  expect(keys()).toEqual([...before, ...meanwhile].map(({ id }) => id));
});

test('an event that was delivered is delivered again: same key, same bytes, one attempt more', async () => {
  const { consume, instance } = await system.start();
  const webhook = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId: webhook.merchantId })]);
  await allDelivered(1);
  await replay(instance, webhook);
  const [first, second] = await receiver.arrived(2);
  expect(second!.body).toBe(first!.body);
  for (const name of ['x-idempotency-key', 'x-delivery-id', 'x-sequence', 'x-timestamp'])
    expect(second!.headers[name]).toBe(first!.headers[name]);
  await system.eventually(`select 1 from webhooks.deliveries where status = 'delivered' and attempts = 2`);
  const { rows } = await system.pool.query('select number from webhooks.attempts order by number');
  expect(rows).toEqual([{ number: 1 }, { number: 2 }]);
});

test('only the range, the types and the merchant that were asked for, and no samples', async () => {
  const { consume, instance } = await system.start();
  const webhook = await system.webhook(receiver.url, { isEnabled: false });
  const { merchantId } = webhook;
  const at = (hours: number, type: 'order.paid' | 'order.created' = 'order.paid') =>
    message({ type, merchantId, time: ago(hours * HOUR_MS).toISOString() });
  const [early, first, last, late] = [at(5), at(4), at(3), at(2)];
  await consume([early, first, last, late, at(3, 'order.created')]);
  await consume([message({ type: 'order.paid', merchantId: newId('merchant'), time: first.time })]);
  await enable(webhook.id);
  const range = { from: new Date(first.time), to: new Date(last.time), types: ['order:paid'] };
  expect(await replay(instance, webhook, range)).toMatchObject({ events: 2 });
  await allDelivered(2);
  expect(keys().sort()).toEqual([first.id, last.id].sort());
});

test('it goes on where another instance left off, and each event is queued once', async () => {
  const merchantId = newId('merchant');
  const events = Array.from({ length: 80 }, (_, n) =>
    message({ type: 'order.paid', merchantId, time: ago((n + 1) * 60_000).toISOString() }),
  );
  // The endpoint is away, so what is queued stays.
  receiver.answer = respond(500);
  const first = await system.start({
    schedule: [3_600],
    replays: { batch: 4, waitingAtMost: 10, restMs: 20 },
  });
  const webhook = await system.webhook(receiver.url, { merchantId, isEnabled: false });
  await first.consume(events);
  await enable(webhook.id);
  await replay(first.instance, webhook);
  await system.eventually('select 1 from webhooks.deliveries having count(*) >= 10');
  await first.instance.stop(0);
  const { rows } = await system.pool.query('select count(*)::int as queued from webhooks.queue');
  expect(rows[0].queued).toBeLessThan(80);

  receiver.answer = respond(200);
  await system.pool.query('update webhooks.queue set due_at = now()');
  await system.start({ replays: { batch: 4, waitingAtMost: 10, restMs: 20 } });
  await finished();
  await allDelivered(80);
  const delivered = await system.pool.query(
    `select event_id from webhooks.deliveries d join webhooks.attempts a on a.delivery_id = d.id
     where a.outcome = 'delivered'`,
  );
  expect(delivered.rows.map(({ event_id }) => event_id).sort()).toEqual(events.map(({ id }) => id).sort());
});

test('it ends when the webhook is disabled', async () => {
  receiver.answer = respond(500);
  const { consume, instance } = await system.start({
    schedule: [3_600],
    replays: { batch: 2, waitingAtMost: 2, restMs: 20 },
  });
  const webhook = await system.webhook(receiver.url, { isEnabled: false });
  await consume(Array.from({ length: 10 }, () => message({ type: 'order.paid', merchantId: webhook.merchantId })));
  await enable(webhook.id);
  await replay(instance, webhook);
  await enable(webhook.id, false);
  await finished();
  const { rows } = await system.pool.query('select count(*)::int as made from webhooks.deliveries');
  expect(rows[0].made).toBeLessThan(10);
});

test('what waits for a retry is tried at once, with its whole schedule before it', async () => {
  const { consume, instance } = await system.start({ schedule: [3_600] });
  const webhook = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  await consume([message({ type: 'order.paid', merchantId: webhook.merchantId })]);
  await system.eventually('select 1 from webhooks.queue where attempts = 1 and leased_by is null');
  await replay(instance, webhook);
  await system.eventually(
    `select 1 from webhooks.deliveries d join webhooks.queue q on q.delivery_id = d.id
     where d.status = 'pending' and d.attempts = 2 and q.attempts = 1 and q.attempts_before = 1`,
  );
  expect(receiver.received).toHaveLength(2);
});

test('the same request again is the same replay; another one waits until it is done', async () => {
  receiver.answer = respond(500);
  const { consume, instance } = await system.start({
    schedule: [3_600],
    replays: { batch: 1, waitingAtMost: 1, restMs: 60_000 },
  });
  const webhook = await system.webhook(receiver.url, { isEnabled: false });
  await consume([1, 2, 3].map(() => message({ type: 'order.paid', merchantId: webhook.merchantId })));
  await enable(webhook.id);
  const id = 'replay_of_the_test';
  const [one, again] = [await replay(instance, webhook, { id }), await replay(instance, webhook, { id })];
  expect(again).toMatchObject({ id, events: 3, created_at: (one as { created_at?: Date } | null)?.created_at });
  expect(await replay(instance, webhook)).toBeNull();
});

test('an order that was deleted is not told again', async () => {
  const { consume, instance } = await system.start();
  const webhook = await system.webhook(receiver.url);
  const [merchantId, orderId] = [webhook.merchantId, newId('order')];
  await consume([message({ type: 'order.paid', merchantId, orderId })]);
  await allDelivered(1);
  await consume([message({ type: 'order.deleted', merchantId, orderId })]);
  expect(await replay(instance, webhook)).toMatchObject({ events: 0 });
});
