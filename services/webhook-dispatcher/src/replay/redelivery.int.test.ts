import { newId } from '@cpg/platform';
import { redeliver } from './redelivery.ts';
import { box, type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';
import { sampleEvent } from '../ingest/samples.ts';
import { createDirectory } from '../webhooks/directory.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const redeliverNow = (webhookId: string, deliveryId: string) =>
  redeliver(system.pool, { webhookId, deliveryId, now: new Date() });
const deliveryOf = (webhookId: string, condition: string) =>
  system.eventually<{ id: string; attempts: number }>(
    `select * from webhooks.deliveries where webhook_id = $1 and ${condition}`,
    [webhookId],
  );
const enable = (id: string, on: boolean) =>
  system.pool.query('update gateway.webhooks set is_enabled = $2 where id = $1', [id, on]);

test('sends a delivered event again with the same keys and bytes', async () => {
  const { consume } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId })]);
  const delivery = await deliveryOf(id, "status = 'delivered'");
  expect(await redeliverNow(id, delivery.id)).toBe('queued');
  const [first, second] = await receiver.arrived(2);
  expect(second!.body).toBe(first!.body);
  for (const name of ['x-idempotency-key', 'x-delivery-id', 'webhook-id'])
    expect(second!.headers[name]).toBe(first!.headers[name]);
  expect(await deliveryOf(id, "status = 'delivered' and attempts = 2")).toMatchObject({ id: delivery.id });
});

test('restarts the schedule of a failed delivery', async () => {
  const { consume } = await system.start({ schedule: [0.02] });
  const { id, merchantId } = await system.webhook(receiver.url);
  receiver.answer = respond(500);
  await consume([message({ type: 'order.paid', merchantId })]);
  const delivery = await deliveryOf(id, "status = 'failed'");
  expect(delivery.attempts).toBe(2);
  await redeliverNow(id, delivery.id);
  expect(await deliveryOf(id, "status = 'failed' and attempts = 4")).toMatchObject({ id: delivery.id });
  const { rows } = await system.pool.query('select number from webhooks.attempts order by started_at');
  expect(rows.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
});

test('changes nothing while an attempt is in flight', async () => {
  const { consume } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  const answers: (() => void)[] = [];
  receiver.answer = (_request, response) => void answers.push(() => response.end());
  await consume([message({ type: 'order.paid', merchantId })]);
  await receiver.arrived(1);
  const delivery = await deliveryOf(id, "status = 'pending'");
  expect(await redeliverNow(id, delivery.id)).toBe('queued');
  answers.shift()!();
  expect(await deliveryOf(id, "status = 'delivered'")).toMatchObject({ attempts: 1 });
  expect((await system.pool.query('select * from webhooks.queue')).rows).toEqual([]);
});

test('is refused for another webhook, a disabled webhook, and a body that is no longer stored', async () => {
  const { consume } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  const other = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId })]);
  const delivery = await deliveryOf(id, "status = 'delivered'");
  expect(await redeliverNow(other.id, delivery.id)).toBe('unknown');
  expect(await redeliverNow(id, newId('delivery'))).toBe('unknown');
  await enable(id, false);
  expect(await redeliverNow(id, delivery.id)).toBe('disabled');
  await enable(id, true);
  await system.pool.query('delete from webhooks.events');
  expect(await redeliverNow(id, delivery.id)).toBe('expired');
  await system.pool.query('update gateway.webhooks set deleted_at = now() where id = $1', [id]);
  expect(await redeliverNow(id, delivery.id)).toBe('unknown');
  expect(receiver.received).toHaveLength(1);
});

test('sends a test delivery to a disabled webhook again', async () => {
  const { instance } = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url, { isEnabled: false });
  const event = sampleEvent('order:paid', merchantId, new Date());
  await instance.ingest({ events: [event], recipients: [{ event, webhookId: id }] });
  const delivery = await deliveryOf(id, "status = 'delivered'");
  expect(await redeliverNow(id, delivery.id)).toBe('queued');
  await deliveryOf(id, "status = 'delivered' and attempts = 2");
});

test('a webhook that was just enabled receives it from an instance whose cache has it disabled', async () => {
  const now = () => new Date();
  const webhooks = createDirectory({ pool: system.pool, box, now, maxAgeMs: 60_000 });
  const { instance, consume } = await system.start({ webhooks });
  const { id, merchantId } = await system.webhook(receiver.url);
  await consume([message({ type: 'order.paid', merchantId })]);
  const delivery = await deliveryOf(id, "status = 'delivered'");
  await instance.stop(0);
  await enable(id, false);
  await webhooks.load([id], 0);
  await enable(id, true);
  await redeliverNow(id, delivery.id);
  await system.start({ webhooks });
  expect(webhooks.get(id)).toMatchObject({ isEnabled: false });
  expect(await deliveryOf(id, "status <> 'pending' and updated_at > created_at")).toMatchObject({
    status: 'delivered',
  });
  await receiver.arrived(2);
});
