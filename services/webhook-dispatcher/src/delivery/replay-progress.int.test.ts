import { message } from '../testing/jest-dispatchers.ts';
import { respond } from '../testing/jest-receiver.ts';
import { FAST, HOUR_MS, ids, paidOrders, replay, replaySetup } from '../testing/jest-replays.ts';

const { allDelivered, finished, happen, keys, receiver, rowsOf, system } = replaySetup();

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

test('ends when the webhook is disabled', async () => {
  receiver().answer = respond(500);
  const { instance } = await system().start({ schedule: [3_600], replays: { ...FAST, maxQueued: 2 } });
  const webhook = await system().webhook(receiver().url);
  happen(paidOrders(10, webhook.merchantId));
  await replay(instance, webhook);
  await system().pool.query('update gateway.webhooks set is_enabled = false');
  await finished();
  expect(Number((await rowsOf('select count(*) from webhooks.deliveries'))[0].count)).toBeLessThan(10);
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
