import type { DomainMessage } from '@cpg/contracts';
import { newId } from '@cpg/platform';
import { message } from '../testing/jest-dispatchers.ts';
import { respond } from '../testing/jest-receiver.ts';
import { ago, DAY_MS, FAST, HOUR_MS, ids, replay, replaySetup } from '../testing/jest-replays.ts';

const { allDelivered, finished, happen, keys, receiver, rowsOf, system } = replaySetup();

test('delivers events from before the webhook existed, with each order and its payments in order', async () => {
  const { instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  const orderId = newId('order');
  const of = (type: 'order.created' | 'order.updated' | 'order.paid' | 'payment.applied', minutesAgo: number) =>
    message({ type, merchantId: webhook.merchantId, orderId, time: ago(minutesAgo * 60_000).toISOString() });
  // Several pages of order events and payment events, interleaved.
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

test('sends a delivered event again with the same keys and bytes', async () => {
  const { consume, instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  const paid = message({ type: 'order.paid', merchantId: webhook.merchantId });
  await consume([paid]);
  await allDelivered(1);
  happen([paid]);
  await replay(instance, webhook);
  const [first, second] = await receiver().arrived(2);
  expect(second!.body).toBe(first!.body);
  for (const name of ['x-idempotency-key', 'x-delivery-id', 'x-sequence', 'x-timestamp'])
    expect(second!.headers[name]).toBe(first!.headers[name]);
  await system().eventually(`select 1 from webhooks.deliveries where status = 'delivered' and attempts = 2`);
  expect(await rowsOf('select number from webhooks.attempts order by number')).toEqual([{ number: 1 }, { number: 2 }]);
});

test('stores old events under the day of the replay, as one delivery with all its attempts', async () => {
  const { consume, instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  const { merchantId } = webhook;
  const [yearOld, stored] = [390, 20].map((days) =>
    message({ type: 'order.paid', merchantId, time: ago(days * DAY_MS).toISOString() }),
  ) as [DomainMessage, DomainMessage];
  await consume([stored]);
  await allDelivered(1);
  const [{ id }] = await rowsOf('select id from webhooks.deliveries');
  happen([yearOld, stored]);
  for (const times of [1, 2]) {
    await replay(instance, webhook);
    await finished(times);
    await allDelivered(2);
  }
  const today = new Date().toISOString().slice(0, 10);
  const deliveries = await rowsOf(
    'select id, event_id, day::text, attempts from webhooks.deliveries order by attempts',
  );
  expect(deliveries).toEqual([
    { id: expect.any(String), event_id: yearOld.id, day: today, attempts: 2 },
    { id, event_id: stored.id, day: today, attempts: 3 },
  ]);
  expect(
    await rowsOf(`select number, day::text from webhooks.attempts where delivery_id = '${id}' order by number`),
  ).toEqual([1, 2, 3].map((number) => ({ number, day: today })));
  const bodies = receiver().received.filter(({ headers }) => headers['x-idempotency-key'] === stored.id);
  expect(new Set(bodies.map(({ body }) => body)).size).toBe(1);
});

test('replays only the range, types and merchant of the request, and what the filter lets through', async () => {
  const { instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url, { filter: { shop: 'b2c' } });
  const at = (
    hours: number,
    type: 'order.paid' | 'order.created' = 'order.paid',
    merchantId = webhook.merchantId,
    shop = 'b2c',
  ) => message({ type, merchantId, time: ago(hours * HOUR_MS).toISOString(), metadata: { shop } });
  const [early, first, last, late] = [at(5), at(4), at(3), at(2)];
  const otherMerchant = newId('merchant');
  const ofOtherMerchant = { ...at(3, 'order.paid', otherMerchant), orderid: first.orderid };
  const ofOtherShop = at(3, 'order.paid', webhook.merchantId, 'b2b');
  happen([
    early,
    first,
    last,
    late,
    ofOtherShop,
    at(3, 'order.created'),
    at(3, 'order.paid', otherMerchant),
    ofOtherMerchant,
  ]);
  await replay(instance, webhook, { from: new Date(first.time), to: new Date(last.time), types: ['order:paid'] });
  await finished();
  await allDelivered(2);
  expect(keys().sort()).toEqual(ids([first, last]).sort());
});

test('attempts a delivery that waits for a retry at once, and restarts its schedule', async () => {
  const { consume, instance } = await system().start({ schedule: [3_600], replays: FAST });
  const webhook = await system().webhook(receiver().url);
  receiver().answer = respond(500);
  const paid = message({ type: 'order.paid', merchantId: webhook.merchantId });
  await consume([paid]);
  await system().eventually('select 1 from webhooks.queue where attempts = 1 and leased_by is null');
  happen([paid]);
  await replay(instance, webhook);
  await system().eventually(
    `select 1 from webhooks.deliveries d join webhooks.queue q on q.delivery_id = d.id
     where d.status = 'pending' and d.attempts = 2 and q.attempts = 1 and q.attempts_before = 1`,
  );
  expect(receiver().received).toHaveLength(2);
});

test('skips leased deliveries', async () => {
  const { consume, instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
  const answers: (() => void)[] = [];
  receiver().answer = (_request, response) => void answers.push(() => response.end());
  const paid = message({ type: 'order.paid', merchantId: webhook.merchantId, time: ago(20 * DAY_MS).toISOString() });
  await consume([paid]);
  await receiver().arrived(1);
  happen([paid]);
  await replay(instance, webhook);
  await finished();
  answers.shift()!();
  await allDelivered(1);
  expect(receiver().received).toHaveLength(1);
});

test('does not deliver events of deleted orders', async () => {
  const { consume, instance } = await system().start({ replays: FAST });
  const webhook = await system().webhook(receiver().url);
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
