import { newId } from '@cpg/platform';
import { type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const count = async (table: string) =>
  Number((await system.pool.query(`select count(*) from webhooks.${table}`)).rows[0].count);
const allDelivered = () =>
  system.eventually(`select 1 from webhooks.deliveries having bool_and(status = 'delivered') and count(*) > 0`);

/** Whether a session of the database waits for a lock. */
const WAITS_FOR_LOCK = `
  select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

test('delivers each event once when its batch is handled twice', async () => {
  const { consume } = await system.start();
  const { merchantId } = await system.webhook(receiver.url);
  const batch = [1, 2, 3].map(() => message({ type: 'order.updated', merchantId }));
  await Promise.all([consume(batch), consume([...batch, ...batch])]);
  await allDelivered();
  await consume(batch);
  expect([await count('events'), await count('deliveries'), await count('queue')]).toEqual([3, 3, 0]);
  expect(receiver.received).toHaveLength(3);
});

test('delivers each event once when two instances handle its batch', async () => {
  const [one, other] = [await system.start(), await system.start()];
  const { merchantId } = await system.webhook(receiver.url);
  const batch = [1, 2, 3].map(() => message({ type: 'order.updated', merchantId }));
  await Promise.all([one.consume(batch), other.consume(batch)]);
  await allDelivered();
  expect(receiver.received).toHaveLength(3);
});

test('sends the same bytes to every subscribed webhook of the merchant, and to no other', async () => {
  const { consume } = await system.start();
  const merchantId = newId('merchant');
  await system.webhook(`${receiver.url}/one`, { merchantId });
  await system.webhook(`${receiver.url}/two`, { merchantId, events: ['order:paid'] });
  await system.webhook(`${receiver.url}/other-events`, { merchantId, events: ['payment:failed'] });
  await system.webhook(`${receiver.url}/disabled`, { merchantId, isEnabled: false });
  await system.webhook(`${receiver.url}/other-merchant`);
  await consume([message({ type: 'order.paid', merchantId }), message({ type: 'payment.received', merchantId })]);
  const [one, two] = await receiver.arrived(2);
  await allDelivered();
  expect(receiver.received.map(({ path }) => path).sort()).toEqual(['/one', '/two']);
  expect(one!.body).toBe(two!.body);
});

test('uses the current webhooks of a merchant, even if the cache is outdated', async () => {
  const { consume } = await system.start();
  const merchantId = newId('merchant');
  const deliverOne = () => consume([message({ type: 'order.paid', merchantId })]);
  const change = (id: string, to: string) => system.pool.query(`update gateway.webhooks set ${to} where id = $1`, [id]);

  await deliverOne();
  const one = await system.webhook(`${receiver.url}/one`, { merchantId });
  await deliverOne();
  const two = await system.webhook(`${receiver.url}/two`, { merchantId, isEnabled: false });
  await deliverOne();
  await change(two.id, 'is_enabled = true');
  await change(one.id, 'is_enabled = false');
  await deliverOne();
  await change(two.id, `url = '${receiver.url}/moved'`);
  await deliverOne();
  await change(two.id, 'deleted_at = now()');
  await deliverOne();
  await allDelivered();
  expect(receiver.received.map(({ path }) => path)).toEqual(['/one', '/one', '/two', '/moved']);
});

test('webhooks of two shops get the events of their own orders, by the metadata at each event', async () => {
  const { consume } = await system.start();
  const merchantId = newId('merchant');
  const orderId = newId('order');
  const webhookOf = (shop: string) =>
    system.webhook(`${receiver.url}/${shop}`, {
      merchantId,
      events: ['order:paid', 'payment:applied'],
      filter: { shop },
    });
  const consumeOf = (metadata: Record<string, string>, id = newId('order')) =>
    consume([
      message({ type: 'order.paid', merchantId, orderId: id, metadata }),
      message({ type: 'payment.applied', merchantId, orderId: id, metadata }),
    ]);
  await webhookOf('b2c');
  const b2b = await webhookOf('b2b');
  await system.webhook(`${receiver.url}/all`, { merchantId, events: ['order:paid'] });
  await consumeOf({ shop: 'b2c' });
  await consumeOf({});
  await consumeOf({ shop: 'b2b' }, orderId);
  // From here on the order belongs to the other shop.
  await consumeOf({ shop: 'b2c' }, orderId);
  await system.pool.query(`update gateway.webhooks set filter = '{"shop": "outlet"}' where id = $1`, [b2b.id]);
  await consumeOf({ shop: 'b2b' });
  await consumeOf({ shop: 'outlet' });
  await allDelivered();
  const count = (path: string) => receiver.received.filter((request) => request.path === path).length;
  expect({ b2c: count('/b2c'), b2b: count('/b2b'), all: count('/all') }).toEqual({ b2c: 4, b2b: 4, all: 6 });
});

test('a merchant that changes a webhook all the time delays neither its own events nor those of others', async () => {
  const [busy, other] = [await system.webhook(receiver.url), await system.webhook(receiver.url)];
  const ingested: unknown[] = [];
  const changes: Promise<unknown>[] = [];
  const query = async (...args: unknown[]) => {
    const asked = args[0] as { name?: string; values?: unknown[] };
    if (asked.name?.startsWith('enqueue')) {
      if (ingested.length === 5) throw new Error('endless');
      ingested.push([asked.values![2]].flat()); // the merchants
      // Changes the webhook after it was read and before its events are stored, unless it is locked.
      const change = system.pool.query('update gateway.webhooks set updated_at = now() where id = $1', [busy.id]);
      changes.push(change);
      let isDone = false;
      void change.then(() => (isDone = true));
      while (!isDone && (await system.pool.query(WAITS_FOR_LOCK)).rowCount === 0);
    }
    return (system.pool.query as (...args: unknown[]) => Promise<unknown>).apply(system.pool, args);
  };
  const pool = new Proxy(system.pool, {
    get: (target, key) => (key === 'query' ? query : Reflect.get(target, key, target)),
  });
  const { consume } = await system.start({ pool });
  await consume([busy, other].map(({ merchantId }) => message({ type: 'order.paid', merchantId })));
  await allDelivered();
  await Promise.all(changes);
  expect(ingested).toEqual([[busy.merchantId, other.merchantId], [busy.merchantId]]);
  expect(await count('deliveries')).toBe(2);
});

test('stores only events that have a recipient', async () => {
  const { consume } = await system.start();
  const { merchantId } = await system.webhook(receiver.url, { events: ['order:created'] });
  const disabled = await system.webhook(receiver.url, { isEnabled: false });
  const created = message({ type: 'order.created', merchantId });
  await consume([
    created,
    message({ type: 'order.paid', merchantId }),
    message({ type: 'order.created', merchantId: disabled.merchantId }),
    message({ type: 'order.created', merchantId: newId('merchant') }),
  ]);
  expect((await system.pool.query('select id from webhooks.events')).rows).toEqual([{ id: created.id }]);
});

test('deletes the queued work and bodies of a deleted order, and ignores its later events', async () => {
  const { consume } = await system.start({ schedule: [3_600] });
  const { merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  const orderId = newId('order');
  await consume([
    message({ type: 'order.created', merchantId, orderId }),
    message({ type: 'order.created', merchantId }),
  ]);
  await system.eventually(`select 1 from webhooks.attempts having count(*) = 2`);
  const late = message({ type: 'payment.applied', merchantId, orderId });
  await consume([
    message({ type: 'order.updated', merchantId, orderId }),
    message({ type: 'order.deleted', merchantId, orderId }),
    late,
  ]);
  await consume([late]);
  const { rows } = await system.pool.query(
    'select distinct order_id from webhooks.events union select order_id from webhooks.queue',
  );
  expect(rows).toHaveLength(1);
  expect(rows[0].order_id).not.toBe(orderId);
  expect(await count('deliveries')).toBe(1);
  expect(receiver.received).toHaveLength(2);
});

test('creates the partition of an older event, and skips events past the body retention', async () => {
  const { consume } = await system.start();
  const { merchantId } = await system.webhook(receiver.url);
  const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  await consume([
    message({ type: 'order.paid', merchantId, time: daysAgo(20) }),
    message({ type: 'order.paid', merchantId, time: daysAgo(40) }),
  ]);
  await allDelivered();
  expect(await count('events')).toBe(1);
});
