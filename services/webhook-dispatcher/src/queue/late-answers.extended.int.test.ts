import { newId } from '@cpg/platform';
import { box, type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { delayedPool } from '../testing/jest-delayed-pool.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';
import { createDirectory } from '../webhooks/directory.ts';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const receivedKeys = () => receiver.received.map(({ headers }) => headers['x-idempotency-key']);

test('a new event does not overtake requeued ones of its order when the circuit breaker opens', async () => {
  const delayed = delayedPool(system.pool, 'enqueue');
  const { consume } = await system.start({
    pool: delayed.pool,
    schedule: [3_600],
    limits: { ...ENDPOINT_LIMITS, failuresToOpen: 1, openMs: 50 },
  });
  const { merchantId } = await system.webhook(receiver.url);
  const orderId = newId('order');
  const events = [1, 2, 3].map(() => message({ type: 'order.updated', merchantId, orderId }));
  const answering: (() => void)[] = [];
  receiver.answer = (_request, response) => void answering.push(() => response.writeHead(500).end());
  await consume(events.slice(0, 2));
  await receiver.arrived(1);
  const late = delayed.delayAnswers();
  const consuming = consume(events.slice(2));
  await late;

  receiver.answer = respond(200);
  answering.shift()!();
  await system.eventually('select 1 from webhooks.attempts');
  delayed.deliverAnswers();
  await consuming;
  await receiver.arrived(3);
  expect(receivedKeys()).toEqual(events.map(({ id }) => id));
});

test('a delivery that was leased after its statement timed out is attempted', async () => {
  const late: (() => Promise<unknown>)[] = [];
  let polls = 0;
  const query = async (...args: unknown[]) => {
    const ask = () => (system.pool.query as (...args: unknown[]) => Promise<unknown>).apply(system.pool, args);
    const { name } = args[0] as { name?: string };
    if (late.length > 0 && name === 'due-webhooks') polls += 1;
    if (!name?.startsWith('enqueue') || late.length > 0) return ask();
    late.push(ask);
    throw new Error('Query read timeout');
  };
  const pool = new Proxy(system.pool, {
    get: (target, key) => (key === 'query' ? query : Reflect.get(target, key, target)),
  });
  const { consume } = await system.start({ pool, leaseMs: 2_000 });
  const { merchantId } = await system.webhook(receiver.url);
  const event = message({ type: 'order.created', merchantId });
  await expect(consume([event])).rejects.toThrow('Query read timeout');
  // Each poll first releases the leases that are not in memory.
  while (polls < 2) await new Promise((done) => setTimeout(done, 10));
  await late[0]!();
  await consume([event]);
  expect((await receiver.arrived(1))[0]!.headers['x-idempotency-key']).toBe(event.id);
});

test.each(['enqueue', 'claim'])(
  'a delivery that "%s" leased under an expired lease is left to other instances',
  async (change) => {
    const { merchantId } = await system.webhook(receiver.url);
    const events = [message({ type: 'order.created', merchantId })];
    if (change === 'claim') {
      const stopped = await system.start();
      await stopped.instance.stop(0);
      await stopped.consume(events);
    }
    const delayed = delayedPool(system.pool, change);
    const late = delayed.delayAnswers();
    const one = await system.start({ pool: delayed.pool });
    const consuming = one.consume(events);
    await late;
    await system.expireLeases();
    await one.instance.heartbeat();
    await system.start();
    await system.eventually("select 1 from webhooks.deliveries where status = 'delivered'");

    delayed.deliverAnswers();
    await consuming;
    await one.consume(events);
    await one.instance.stop(1_000);
    expect(receiver.received).toHaveLength(1);
  },
);

test('a delivery leased under an expired lease is not attempted while the instance registers again', async () => {
  const delayed = delayedPool(system.pool, 'enqueue');
  const registry = delayedPool(delayed.pool, 'insert into webhooks.instances');
  const one = await system.start({ pool: registry.pool });
  const { merchantId } = await system.webhook(receiver.url);
  const late = delayed.delayAnswers();
  const event = message({ type: 'order.created', merchantId });
  const consuming = one.consume([event]);
  await late;
  await system.expireLeases();
  const registering = registry.delayAnswers();
  const heartbeat = one.instance.heartbeat();
  await registering;
  const other = await system.start();
  await other.instance.heartbeat();
  await system.eventually("select 1 from webhooks.deliveries where status = 'delivered'");

  delayed.deliverAnswers();
  await consuming;
  registry.deliverAnswers();
  await heartbeat;
  // A later delivery of the instance: an attempt at the other one would have come before.
  const later = message({ type: 'order.created', merchantId });
  await one.consume([later]);
  await receiver.arrived(2);
  await one.instance.stop(1_000);
  expect(receivedKeys()).toEqual([event.id, later.id]);
});

test('an outdated read of a disabled webhook fails no delivery once the webhook is enabled', async () => {
  const { id, merchantId } = await system.webhook(receiver.url);
  const enable = (isEnabled: boolean) =>
    system.pool.query('update gateway.webhooks set is_enabled = $2 where id = $1', [id, isEnabled]);
  const orderId = newId('order');
  const [first, second] = [1, 2].map(() => message({ type: 'order.updated', merchantId, orderId }));
  const stopped = await system.start();
  await stopped.instance.stop(0);
  await stopped.consume([first!]);
  await enable(false);

  const delayed = delayedPool(system.pool, 'select id, merchant_id');
  const late = delayed.delayAnswers();
  const webhooks = createDirectory({ pool: delayed.pool, box, now: () => new Date(), maxAgeMs: 0 });
  await system.start({ webhooks });
  await late;
  delayed.deliverAnswers();
  await delayed.delayAnswers();
  await enable(true);
  await stopped.consume([second!]);
  delayed.deliverAnswers();
  await receiver.arrived(2);
  expect(receivedKeys()).toEqual([first!.id, second!.id]);
});
