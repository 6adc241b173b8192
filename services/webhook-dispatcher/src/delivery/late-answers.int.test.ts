import { newId } from '@cpg/runtime';
import { box, type Dispatchers, dispatchers, message } from '../testing/jest-dispatchers.ts';
import { latePool } from '../testing/jest-late-pool.ts';
import { type Receiver, respond, startReceiver } from '../testing/jest-receiver.ts';
import { createDirectory } from '../webhooks/directory.ts';
import { ENDPOINT_LIMITS } from './endpoint.ts';

let system: Dispatchers;
let receiver: Receiver;
beforeEach(async () => {
  [system, receiver] = await Promise.all([dispatchers(), startReceiver()]);
});
afterEach(async () => {
  await system.close();
  await receiver.close();
});

const told = () => receiver.received.map(({ headers }) => headers['x-idempotency-key']);

test('what is taken in does not overtake what is given back because its endpoint is left alone', async () => {
  const line = latePool(system.pool, 'take in');
  const { consume } = await system.start({
    pool: line.pool,
    schedule: [3_600],
    limits: { ...ENDPOINT_LIMITS, failuresToHold: 1, holdMs: 50 },
  });
  const { merchantId } = await system.webhook(receiver.url);
  const orderId = newId('order');
  const events = [1, 2, 3].map(() => message({ type: 'order.updated', merchantId, orderId }));
  const answering: (() => void)[] = [];
  receiver.answer = (_request, response) => void answering.push(() => response.writeHead(500).end());
  await consume(events.slice(0, 2));
  await receiver.arrived(1);
  const late = line.holdBack();
  const consuming = consume(events.slice(2));
  await late;

  receiver.answer = respond(200);
  answering.shift()!();
  await system.eventually('select 1 from webhooks.attempts');
  line.letArrive();
  await consuming;
  await receiver.arrived(3);
  expect(told()).toEqual(events.map(({ id }) => id));
});

test('what was leased after its answer was given up is attempted all the same', async () => {
  const late: (() => Promise<unknown>)[] = [];
  const query = async (...args: unknown[]) => {
    const ask = () => (system.pool.query as (...args: unknown[]) => Promise<unknown>).apply(system.pool, args);
    if ((args[0] as { name?: string }).name !== 'take in' || late.length > 0) return ask();
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
  await new Promise((done) => setTimeout(done, 200));
  await late[0]!();
  await consume([event]);
  expect((await receiver.arrived(1))[0]!.headers['x-idempotency-key']).toBe(event.id);
});

test.each(['take in', 'claim'])('what "%s" leased under a lease that ran out is left to the others', async (change) => {
  const { merchantId } = await system.webhook(receiver.url);
  const events = [message({ type: 'order.created', merchantId })];
  if (change === 'claim') {
    const gone = await system.start();
    await gone.instance.stop(0);
    await gone.consume(events);
  }
  const line = latePool(system.pool, change);
  const late = line.holdBack();
  const one = await system.start({ pool: line.pool });
  const consuming = one.consume(events);
  await late;
  await system.letLeasesRunOut();
  await one.instance.beat();
  await system.start();
  await system.eventually("select 1 from webhooks.deliveries where status = 'delivered'");

  line.letArrive();
  await consuming;
  await one.consume(events);
  await one.instance.stop(1_000);
  expect(receiver.received).toHaveLength(1);
});

test('nor is it attempted when it comes while another lease is taken', async () => {
  const line = latePool(system.pool, 'take in');
  const registry = latePool(line.pool, 'insert into webhooks.instances');
  const one = await system.start({ pool: registry.pool });
  const { merchantId } = await system.webhook(receiver.url);
  const late = line.holdBack();
  const consuming = one.consume([message({ type: 'order.created', merchantId })]);
  await late;
  await system.letLeasesRunOut();
  const registering = registry.holdBack();
  const beating = one.instance.beat();
  await registering;
  const other = await system.start();
  await other.instance.beat();
  await system.eventually("select 1 from webhooks.deliveries where status = 'delivered'");

  line.letArrive();
  await consuming;
  registry.letArrive();
  await beating;
  await new Promise((done) => setTimeout(done, 100));
  await one.instance.stop(1_000);
  expect(receiver.received).toHaveLength(1);
});

test('an answer that a webhook is off ends nothing once it is enabled', async () => {
  const { id, merchantId } = await system.webhook(receiver.url);
  const enable = (isEnabled: boolean) =>
    system.pool.query('update gateway.webhooks set is_enabled = $2 where id = $1', [id, isEnabled]);
  const orderId = newId('order');
  const [first, second] = [1, 2].map(() => message({ type: 'order.updated', merchantId, orderId }));
  const stopped = await system.start();
  await stopped.instance.stop(0);
  await stopped.consume([first!]);
  await enable(false);

  const line = latePool(system.pool, 'select id, merchant_id');
  const late = line.holdBack();
  const webhooks = createDirectory({ pool: line.pool, box, now: () => new Date(), freshMs: 0 });
  await system.start({ webhooks });
  await late;
  line.letArrive();
  await line.holdBack();
  await enable(true);
  await stopped.consume([second!]);
  line.letArrive();
  await receiver.arrived(2);
  expect(told()).toEqual([first!.id, second!.id]);
});
