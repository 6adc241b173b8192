import { newId } from '@cpg/platform';
import { advanceReplay, cancelReplay, claimReplay, createReplay } from './replay-table.ts';
import { message } from '../testing/jest-dispatchers.ts';
import { respond } from '../testing/jest-receiver.ts';
import { ago, FAST, HOUR_MS, ids, paidOrders, replay, replaySetup } from '../testing/jest-replays.ts';

const { allDelivered, finished, happen, keys, receiver, rowsOf, system } = replaySetup();
const setEnabled = (isEnabled: boolean) =>
  system().pool.query('update gateway.webhooks set is_enabled = $1', [isEnabled]);

test('another instance continues a replay, and each event is queued once', async () => {
  const pace = { ...FAST, maxQueued: 10 };
  // The endpoint fails, so queued events stay queued.
  receiver().answer = respond(500);
  const first = await system().start({ schedule: [3_600], replays: pace });
  const webhook = await system().webhook(receiver().url);
  const events = paidOrders(60, webhook.merchantId);
  happen(events);
  await replay(first.instance, webhook);
  await system().eventually('select 1 from webhooks.deliveries having count(*) >= 10');
  await first.instance.stop(0);
  expect(Number((await rowsOf('select count(*) from webhooks.queue'))[0].count)).toBeLessThan(60);

  receiver().answer = respond(200);
  await system().pool.query('update webhooks.queue set due_at = now()');
  await system().start({ replays: pace });
  await finished();
  await allDelivered(60);
  const delivered = await rowsOf(
    `select event_id from webhooks.deliveries d join webhooks.attempts a on a.delivery_id = d.id where a.outcome = 'delivered'`,
  );
  expect(delivered.map(({ event_id }) => event_id).sort()).toEqual(ids(events).sort());
  expect(await rowsOf('select events from webhooks.replays')).toEqual([{ events: 60 }]);
});

test('a step of an instance whose lease expired meanwhile changes nothing', async () => {
  const webhook = await system().webhook(receiver().url);
  happen(paidOrders(2, webhook.merchantId));
  let unblock = () => {};
  const blocked = new Promise<void>((done) => (unblock = done));
  let calls = 0;
  system().history.setBeforeAnswer(() => ((calls += 1) === 1 ? blocked : Promise.resolve()));
  const slow = await system().start({ replays: FAST });
  await replay(slow.instance, webhook);
  await system().eventually('select 1 from webhooks.replays where leased_by is not null');
  await system().start({ replays: FAST });
  expect(calls).toBe(1);
  await system().expireLeases();
  await finished();
  await allDelivered(2);
  unblock();
  await slow.instance.stop(0);
  expect(await rowsOf('select events from webhooks.replays')).toEqual([{ events: 2 }]);
  expect(receiver().received).toHaveLength(2);
});

test('waits while orders is unavailable, and deliveries continue', async () => {
  const { instance, consume } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  const old = paidOrders(3, webhook.merchantId, HOUR_MS);
  happen(old);
  system().history.setUnavailable(true);
  await replay(instance, webhook);
  await system().eventually('select 1 from webhooks.replays where failures >= 2 and leased_by is null');
  const current = message({ type: 'order.paid', merchantId: webhook.merchantId });
  await consume([current]);
  await allDelivered(1);
  system().history.setUnavailable(false);
  await finished();
  await allDelivered(4);
  expect(keys().slice(1).sort()).toEqual(ids(old).sort());
  expect(await rowsOf('select failures from webhooks.replays')).toEqual([{ failures: 0 }]);
});

test('an order whose events cannot be read holds up no other one, and follows once they can', async () => {
  const { instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  const events = paidOrders(5, webhook.merchantId);
  happen(events);
  const [broken] = events.splice(2, 1);
  system().history.setBroken(broken!.orderid);
  await replay(instance, webhook);
  await allDelivered(4);
  expect(keys().sort()).toEqual(ids(events).sort());
  await system().eventually(
    'select 1 from webhooks.replays where finished_at is null and failures > 0 and cardinality(deferred) = 1',
  );
  system().history.setBroken(null);
  await finished();
  await allDelivered(5);
  expect(keys().at(-1)).toBe(broken!.id);
  expect(await rowsOf('select events, deferred from webhooks.replays')).toEqual([{ events: 5, deferred: [] }]);
});

test('pauses while the webhook is disabled, then queues the rest and the events that failed meanwhile', async () => {
  receiver().answer = respond(500);
  const { instance } = await system().start({ schedule: [3_600], replays: FAST });
  const webhook = await system().webhook(receiver().url);
  const orderId = newId('order');
  const events = [
    ...paidOrders(3, webhook.merchantId, HOUR_MS),
    // An order that is partly queued when the webhook is disabled: a page has three events.
    ...Array.from({ length: 8 }, (_, n) =>
      message({
        type: 'order.updated',
        merchantId: webhook.merchantId,
        orderId,
        time: ago((30 - n) * 60_000).toISOString(),
      }),
    ),
    ...paidOrders(6, webhook.merchantId),
  ];
  happen(events);
  let unblock = () => {};
  const blocked = new Promise<void>((done) => (unblock = done));
  system().history.setBeforeAnswer(async () => {
    const partly = await rowsOf('select from webhooks.replays where order_place is not null');
    if (partly.length > 0) await blocked;
  });
  await replay(instance, webhook);
  await system().eventually('select 1 from webhooks.replays where order_place is not null and leased_by is not null');
  await system().eventually('select 1 from webhooks.queue having bool_and(attempts = 1 and leased_by is null)');
  await setEnabled(false);
  await system().pool.query('update webhooks.queue set due_at = now()');
  await system().eventually(
    'select 1 from webhooks.replays where (select count(*) from webhooks.queue) = 0 and cardinality(deferred) = 3',
  );
  // The step in flight has lost its lease.
  unblock();
  const [paused] = await rowsOf('select stepped_at, finished_at from webhooks.replays');
  await instance.stop(0);
  receiver().answer = respond(200);
  await system().start({ replays: FAST });
  expect(await rowsOf('select stepped_at, finished_at from webhooks.replays')).toEqual([
    { stepped_at: paused.stepped_at, finished_at: null },
  ]);
  await setEnabled(true);
  await finished();
  await allDelivered(events.length);
  expect(await rowsOf(`select deferred, canceled_at from webhooks.replays`)).toEqual([
    { deferred: [], canceled_at: null },
  ]);
});

test('a step that ends after the webhook was disabled changes nothing', async () => {
  const { pool } = system();
  const { id: webhookId, merchantId } = await system().webhook(receiver().url);
  const now = new Date();
  await createReplay(pool, { id: 'one', webhookId, merchantId, from: now, to: now, types: [] }, now);
  const step = await claimReplay(pool, 'an instance', now);
  await setEnabled(false);
  const end = () => advanceReplay(pool, step!, { cursor: { afterOrder: null, within: null }, deferred: [] }, now);
  expect(await end()).toBe(false);
  expect(await rowsOf('select finished_at from webhooks.replays')).toEqual([{ finished_at: null }]);
  await setEnabled(true);
  expect(await end()).toBe(true);
});

test('a canceled replay queues nothing more, not even by a step in flight', async () => {
  const webhook = await system().webhook(receiver().url);
  happen(paidOrders(2, webhook.merchantId));
  let unblock = () => {};
  const blocked = new Promise<void>((done) => (unblock = done));
  system().history.setBeforeAnswer(() => blocked);
  const { instance } = await system().start({ replays: FAST });
  await replay(instance, webhook, { id: 'canceled' });
  await system().eventually('select 1 from webhooks.replays where leased_by is not null');
  const cancel = (webhookId: string, minutes = 0) =>
    cancelReplay(system().pool, { id: 'canceled', webhookId, now: new Date(Date.now() + minutes * 60_000) });
  expect(await cancel(newId('webhook'))).toBe(false);
  expect(await cancel(webhook.id)).toBe(true);
  const canceled = await rowsOf('select * from webhooks.replays');
  expect(canceled).toMatchObject([{ events: 0, canceled_at: expect.any(Date), finished_at: expect.any(Date) }]);
  unblock();
  await instance.stop(0);
  expect(await cancel(webhook.id, 1)).toBe(true);
  expect(await rowsOf('select * from webhooks.replays')).toEqual(canceled);
  expect(await rowsOf('select * from webhooks.deliveries')).toEqual([]);
  expect(await replay((await system().start({ replays: FAST })).instance, webhook)).not.toBeNull();
});

test('a replay that is done stays done when it is canceled', async () => {
  const { instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  await replay(instance, webhook, { id: 'done' });
  await finished();
  expect(await cancelReplay(system().pool, { id: 'done', webhookId: webhook.id, now: new Date() })).toBe(true);
  expect(await rowsOf('select canceled_at from webhooks.replays')).toEqual([{ canceled_at: null }]);
});

test('deleting the webhook cancels its replay', async () => {
  const { instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  await setEnabled(false);
  await replay(instance, webhook);
  await system().pool.query('update gateway.webhooks set deleted_at = now()');
  await system().eventually('select 1 from webhooks.replays where finished_at = canceled_at and leased_by is null');
});

test('the same request again is the same replay, and another one is refused until it ends', async () => {
  system().history.setUnavailable(true);
  const { instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  const id = 'replay_of_the_test';
  const one = await replay(instance, webhook, { id });
  const [again] = await rowsOf('select created_at from webhooks.replays');
  expect(await replay(instance, webhook, { id })).toMatchObject({ id, from_at: one!.from_at, ...again });
  expect(await replay(instance, webhook)).toBeNull();
});
