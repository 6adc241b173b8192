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

test('another instance takes over the deliveries of a crashed one', async () => {
  const crashed = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  receiver.answer = () => {};
  const orderId = newId('order');
  await crashed.consume([1, 2, 3].map(() => message({ type: 'order.updated', merchantId, orderId })));
  await receiver.arrived(1);
  receiver.answer = respond(200);
  await system.expireLeases();
  const other = await system.start();
  await other.instance.heartbeat();
  await system.eventually(
    `select 1 from webhooks.deliveries where webhook_id = $1 and status = 'delivered' having count(*) = 3`,
    [id],
  );
});

test('a stopping instance releases waiting deliveries and finishes attempts in flight', async () => {
  const stopping = await system.start();
  const { id, merchantId } = await system.webhook(receiver.url);
  const answering: (() => void)[] = [];
  receiver.answer = (_request, response) => void answering.push(() => response.end());
  const orderId = newId('order');
  await stopping.consume([1, 2].map(() => message({ type: 'order.updated', merchantId, orderId })));
  await receiver.arrived(1);
  const stopped = stopping.instance.stop(5_000);
  await system.eventually('select 1 from webhooks.queue where leased_by is null');
  answering.shift()!();
  await stopped;
  const { rows } = await system.pool.query('select status, attempts from webhooks.deliveries order by id');
  expect(rows).toEqual([
    { status: 'delivered', attempts: 1 },
    { status: 'pending', attempts: 0 },
  ]);
  receiver.answer = respond(200);
  await system.start();
  await system.eventually(
    `select 1 from webhooks.deliveries where webhook_id = $1 having bool_and(status = 'delivered')`,
    [id],
  );
  expect(receiver.received).toHaveLength(2);
});

test('a stopping instance aborts an attempt that does not end in time, without counting it', async () => {
  const stopping = await system.start();
  const { merchantId } = await system.webhook(receiver.url);
  receiver.answer = () => {};
  await stopping.consume([message({ type: 'order.updated', merchantId })]);
  await receiver.arrived(1);
  await stopping.instance.stop(0);
  const { rows } = await system.pool.query('select attempts, leased_by from webhooks.queue');
  expect(rows).toEqual([{ attempts: 0, leased_by: null }]);
});

test('instances share a backlog, and send every delivery once', async () => {
  const { merchantId } = await system.webhook(receiver.url);
  const first = await system.start();
  receiver.answer = respond(200);
  await first.instance.stop(0);
  await first.consume(Array.from({ length: 300 }, () => message({ type: 'order.created', merchantId })));
  expect(receiver.received).toHaveLength(0);
  await Promise.all([system.start(), system.start()]);
  await system.eventually(`select 1 from webhooks.deliveries having bool_and(status = 'delivered')`);
  expect(new Set(receiver.received.map(({ headers }) => headers['x-idempotency-key'])).size).toBe(300);
  expect(receiver.received).toHaveLength(300);
});

test('an endpoint that hangs does not delay others', async () => {
  const { consume } = await system.start();
  const merchantId = newId('merchant');
  const hanging = await system.webhook(`${receiver.url}/hanging`, { merchantId });
  const healthy = await system.webhook(`${receiver.url}/healthy`, { merchantId });
  receiver.answer = ({ path }, response) => void (path === '/healthy' && response.end());
  await consume(Array.from({ length: 200 }, () => message({ type: 'order.created', merchantId })));
  await system.eventually(
    `select 1 from webhooks.deliveries where webhook_id = $1 having bool_and(status = 'delivered')`,
    [healthy.id],
  );
  const { rows } = await system.pool.query(
    `select 1 from webhooks.deliveries where webhook_id = $1 and status = 'pending'`,
    [hanging.id],
  );
  expect(rows).toHaveLength(200);
});
