import { RewindError } from '@cpg/kafka';
import { newId } from '@cpg/runtime';
import { type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { respond, type Receiver, startReceiver } from '../testing/jest-receiver.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeAll(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(() => system.empty());
afterAll(async () => {
  await system.close();
  await receiver.close();
});

/** An instance of which PostgreSQL has stored one ingest, and a second one that is easily lost. `later` events follow. */
const ingestTwice = async (later = 1) => {
  receiver.answer = respond(200);
  const { instance, ingest, consume } = await system.start();
  const { merchantId } = await system.webhook(receiver.url);
  const events = Array.from({ length: 2 + later }, () =>
    message({ type: 'order.created', merchantId, orderId: newId('order') }),
  );
  await ingest(events.slice(0, 1));
  await instance.flushIngests();
  await ingest(events.slice(1, 2));
  await system.eventually('select 1 from webhooks.attempts having count(*) = 2');
  return { instance, ingest, consume, events };
};

/** Removes the commits of an ingest and of its results, as a crash of PostgreSQL can do. */
const loseCommits = async (eventId: string) => {
  const [{ delivery_id: deliveryId }] = (
    await system.pool.query('select id as delivery_id from webhooks.deliveries where event_id = $1', [eventId])
  ).rows as [{ delivery_id: string }];
  await system.pool.query('delete from webhooks.attempts where delivery_id = $1', [deliveryId]);
  await system.pool.query('delete from webhooks.deliveries where event_id = $1', [eventId]);
  await system.pool.query('delete from webhooks.events where id = $1', [eventId]);
  await system.pool.query('update webhooks.instances set ingests = ingests - 1');
};

const storedEvents = async () =>
  (await system.pool.query('select id from webhooks.events order by id')).rows.map(({ id }) => id as string);

test('commits of ingested messages do not wait for the disk, and a flush stores them', async () => {
  const { instance, events } = await ingestTwice();
  await instance.flushIngests();
  expect(await storedEvents()).toEqual(
    events
      .slice(0, 2)
      .map(({ id }) => id)
      .sort(),
  );
});

test.each([1, 2])(
  'the next ingest, of %i events, notices a lost one, and stores nothing until the consumer has gone back',
  async (later) => {
    const { instance, ingest, events } = await ingestTwice(later);
    await loseCommits(events[1]!.id);
    await expect(ingest(events.slice(2))).rejects.toThrow(RewindError);
    await expect(ingest(events.slice(2))).rejects.toThrow(RewindError);
    await expect(instance.flushIngests()).rejects.toThrow(RewindError);
    expect(await storedEvents()).toEqual([events[0]!.id]);
    instance.rewound();
    await ingest(events);
    await instance.flushIngests();
    expect(await storedEvents()).toEqual(events.map(({ id }) => id).sort());
  },
);

test('a flush notices a lost ingest, so no offset behind it is committed', async () => {
  const { instance, events } = await ingestTwice();
  await loseCommits(events[1]!.id);
  await expect(instance.flushIngests()).rejects.toThrow(RewindError);
});

test('a new id of the instance makes the consumer go back, because nothing is known of the earlier one', async () => {
  const { instance, ingest, consume, events } = await ingestTwice();
  await system.expireLeases();
  await instance.heartbeat();
  await expect(instance.flushIngests()).rejects.toThrow(RewindError);
  await expect(ingest(events.slice(2))).rejects.toThrow(RewindError);
  await consume(events);
  await instance.flushIngests();
  expect(await storedEvents()).toEqual(events.map(({ id }) => id).sort());
});

test.each([1, 2])('goes on after an ingest of %i events that failed', async (later) => {
  const { ingest, instance, events } = await ingestTwice(later);
  await system.pool.query('alter table webhooks.forgotten_orders rename to forgotten_orders_later');
  await expect(ingest(events.slice(2))).rejects.toThrow(/forgotten_orders/);
  await system.pool.query('alter table webhooks.forgotten_orders_later rename to forgotten_orders');
  await instance.flushIngests();
  await ingest(events.slice(2));
  await instance.flushIngests();
  expect(await storedEvents()).toEqual(events.map(({ id }) => id).sort());
});

test('a stopped instance has flushed, and its later ingests wait for the disk', async () => {
  const { instance, ingest, events } = await ingestTwice();
  await instance.stop(1_000);
  await ingest(events.slice(2));
  await instance.flushIngests();
  expect(await storedEvents()).toEqual(events.map(({ id }) => id).sort());
});
