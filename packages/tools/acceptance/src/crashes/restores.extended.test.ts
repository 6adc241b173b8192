import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Order, WebhookEventType } from '@cpg/contracts';
import { Client } from 'pg';
import { readKafkaLog } from '../harness/kafka-log.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { healthOf, serviceAdmin, type ServiceName } from '../harness/services.ts';
import { purchase } from '../harness/shoppers.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** The databases of the embedded engines, each with the processes that use it. */
const USERS = {
  eventstore: ['eventstore'],
  kafka: ['kafka'],
  app: ['gateway', 'orders', 'payments', 'webhook-dispatcher-1'],
} as const;

export type Engine = keyof typeof USERS;

/** Backups of single engines of a running stack. The processes of the engine are killed for each of them. */
const engineBackups = (stack: Stack) => {
  const backupOf = (engine: Engine) => `${engine}_backup`;
  /** Runs statements while no process is connected to the engine's database. */
  const exchange = async (engine: Engine, statements: readonly string[]) => {
    const url = new URL(stack.databaseUrl);
    url.pathname = '/postgres';
    const client = new Client({ connectionString: url.toString() });
    await client.connect();
    const pids = USERS[engine].map((name) => ({ name, pid: stack.pidOf(name) }));
    // A stopped process cannot connect again in between.
    for (const { pid } of pids) if (pid !== null) process.kill(pid, 'SIGSTOP');
    try {
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${engine}'`);
      while ((await client.query(`select from pg_stat_activity where datname = '${engine}'`)).rowCount) await sleep(20);
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
      for (const { name, pid } of pids) if (pid !== null && stack.pidOf(name) === pid) await stack.kill(name);
    }
  };
  return {
    take: (engine: Engine) =>
      exchange(engine, [
        `drop database if exists ${backupOf(engine)}`,
        `create database ${backupOf(engine)} template ${engine}`,
      ]),
    restore: (engine: Engine) =>
      exchange(engine, [
        `drop database ${engine} with (force)`,
        `create database ${engine} template ${backupOf(engine)}`,
      ]),
    /** Puts an engine without data in the place. */
    empty: (engine: Engine) => exchange(engine, [`drop database ${engine} with (force)`, `create database ${engine}`]),
  };
};

const HOOK = '/hook';
const SLOW = 300_000;
const EVENTS: WebhookEventType[] = ['order:created', 'order:paid', 'payment:applied'];
const SERVICES: ServiceName[] = ['orders', 'payments'];

let stack: Stack;
let shop: Shop;
let receiver: Receiver;
let backups: ReturnType<typeof engineBackups>;

const start = async (env: Record<string, string> = {}): Promise<void> => {
  [stack, receiver] = await Promise.all([startStack({ env }), startReceiver()]);
  backups = engineBackups(stack);
  shop = await openShop(stack);
  const { id } = await shop.api.createWebhook({ url: receiver.urlOf(HOOK), events: EVENTS });
  await shop.api.updateWebhook(id, { is_enabled: true });
};
afterEach(async () => {
  await shop?.api.close();
  await stack?.stop();
  await receiver?.close();
}, SLOW);

/** The ids of the webhook events of an order, in order of arrival, repeats included. */
const deliveriesOf = ({ id }: Order): string[] =>
  receiver
    .attemptsOn(HOOK)
    .filter(({ rawBody }) => rawBody.includes(id))
    .map(({ headers }) => headers['x-idempotency-key']!);
/** Buys, and waits until the merchant was told all of it. */
const buy = async (count: number): Promise<Order[]> => {
  const purchases = await Promise.all(Array.from({ length: count }, () => purchase(shop.api)));
  const orders = purchases.map(({ order }) => order);
  for (const order of orders)
    await until(`webhooks of ${order.id}`, () => new Set(deliveriesOf(order)).size >= EVENTS.length);
  return orders;
};
/** The ids of the messages about each order, in order, without repeats. */
const messagesOf = async (orders: readonly Order[]): Promise<Record<string, string[]>> => {
  const log = await readKafkaLog(stack.kafkaBrokers);
  try {
    const read = orders.map(async ({ id }) => {
      const messages = await log.waitFor(id, (all) => all.some(({ type }) => type === 'order.paid'));
      expect(messages.map(({ sequence }) => Number(sequence))).toEqual(messages.map((_, index) => index));
      return [id, messages.map((message) => message.id)] as const;
    });
    const found = Object.fromEntries(await Promise.all(read));
    expect(log.faults()).toEqual([]);
    return found;
  } finally {
    await log.close();
  }
};
/** The status of orders and payments, with the names of the checks that fail. */
const readiness = (): Promise<string[]> =>
  Promise.all(
    SERVICES.map(async (name) => `${name} ${await healthOf(stack.environment[`${name.toUpperCase()}_URL`]!)}`),
  );
const untilReadiness = (description: string, isReached: (readiness: string) => boolean) =>
  until(description, async () => {
    const found = await readiness();
    if (!found.every(isReached)) throw new Error(found.join(', '));
    return true;
  });
const untilRefused = () =>
  untilReadiness('the services to refuse the event store', (is) => / 503 .*known-event-store/.test(is));
const untilReady = () => untilReadiness('the services to be ready', (is) => is.endsWith(' 200'));
const reconcile = async (more = '') => {
  const outcomes = [];
  for (const name of SERVICES)
    outcomes.push(await serviceAdmin(stack, name, `store reconcile --folder ${stack.dataDir}${more}`).outcome());
  return { codes: outcomes.map(({ code }) => code), output: outcomes.map(({ output }) => output).join('') };
};
const listed = (): string => {
  const files = readdirSync(stack.dataDir).filter((name) => name.startsWith('store-reconcile-'));
  const text = files.map((name) => readFileSync(join(stack.dataDir, name), 'utf8')).join('');
  for (const name of files) rmSync(join(stack.dataDir, name));
  return text;
};
/** The deposit addresses of orders. */
const addressesOf = (orders: readonly Order[]): string[] =>
  orders.flatMap(({ deposit_instructions: all }) =>
    all.flatMap((instruction) => (instruction.rail === 'crypto_deposit' ? [instruction.address] : [])),
  );
const expectOwnAddresses = (orders: readonly Order[]): void => {
  const addresses = addressesOf(orders);
  expect(addresses.length).toBeGreaterThanOrEqual(orders.length);
  expect(new Set(addresses).size).toBe(addresses.length);
};
const create = () => shop.api.send('POST', '/v1/orders', { body: orderBody() });
/** A create with an Idempotency-Key, and its repeat. */
const createWithKey = async () => {
  const request = { body: orderBody(), headers: { 'idempotency-key': randomUUID() } };
  const send = () => shop.api.send('POST', '/v1/orders', request);
  return { first: await send(), repeat: send };
};
const sentences = (service: string) =>
  stack.log.filter((line) => line.includes(`${service} `) && / error\s+the event store at EVENTSTORE_URL/.test(line));

test(
  'an older event store under a newer PostgreSQL and Kafka is refused until it was reconciled',
  async () => {
    await start();
    const kept = await buy(2);
    const keptMessages = await messagesOf(kept);
    await backups.take('eventstore');
    const lost = await buy(3);
    await backups.restore('eventstore');
    await untilRefused();
    expect((await create()).status).toBe(503);
    expect(sentences('orders')).toHaveLength(1);

    const shown = await reconcile();
    expect(shown.codes).toEqual([1, 1]);
    expect(shown.output).toMatch(/orders\.orders: 3 without events/);
    expect(shown.output).toMatch(/payments\.payments: 3 without events/);
    expect(shown.output).toMatch(/webhooks\.deliveries: 6 without events[^]*webhooks\.deliveries: 3 without events/);
    expect(shown.output).toMatch(/orders\.v1: \d+ without events/);
    const gone = listed();
    for (const { id } of lost) expect(gone).toContain(id);
    for (const { id } of kept) expect(gone).not.toContain(id);

    expect(await reconcile(' --apply')).toMatchObject({ codes: [0, 0] });
    await untilReady();
    const added = await buy(2);
    expectOwnAddresses([...kept, ...lost, ...added]);
    expect(await messagesOf([...kept, ...added])).toMatchObject(keptMessages);
    for (const order of kept) expect(deliveriesOf(order)).toHaveLength(EVENTS.length);
    for (const { id } of lost) expect((await shop.api.send('GET', `/v1/orders/${id}`)).status).toBe(404);
    const ids = (await shop.api.orders()).items.map(({ id }) => id);
    expect(ids.sort()).toEqual([...kept, ...added].map(({ id }) => id).sort());
  },
  SLOW,
);

test(
  'another event store at the address is refused until it was reconciled',
  async () => {
    await start({ LOG_SHARDS: '3' });
    const [lost] = await buy(1);
    await backups.empty('eventstore');
    await untilRefused();
    expect((await create()).status).toBe(503);
    expect(await reconcile()).toMatchObject({ codes: [1, 1], output: expect.stringContaining('no identity, but') });
    expect(listed()).toContain(lost!.id);
    expect(await reconcile(' --apply')).toMatchObject({ codes: [0, 0] });
    await untilReady();
    const added = await buy(2);
    await messagesOf(added);
    expectOwnAddresses([lost!, ...added]);
    expect((await shop.api.orders()).items.map(({ id }) => id).sort()).toEqual(added.map(({ id }) => id).sort());
  },
  SLOW,
);

test(
  'an empty Kafka gets new messages at once, and earlier ones under the same ids by a command',
  async () => {
    await start({ LOG_SHARDS: '3' });
    const since = new Date().toISOString();
    const earlier = await buy(2);
    const messages = await messagesOf(earlier);
    await backups.empty('kafka');
    const added = await buy(2);
    for (const name of SERVICES)
      expect(await serviceAdmin(stack, name, `store republish --since ${since}`).outcome()).toMatchObject({ code: 0 });
    expect(await messagesOf([...earlier, ...added])).toMatchObject(messages);
    const last = await buy(1);
    for (const order of [...earlier, ...added, ...last]) expect(deliveriesOf(order)).toHaveLength(EVENTS.length);
  },
  SLOW,
);

test(
  'an older PostgreSQL under a newer event store announces what it lost again, under the same ids',
  async () => {
    await start();
    const kept = await buy(1);
    await backups.take('app');
    const later = await buy(2);
    const open = await createWithKey();
    const deleted = await createWithKey();
    expect((await shop.api.send('DELETE', `/v1/orders/${deleted.first.body.id}`)).status).toBe(200);
    const [messages, told] = [await messagesOf([...kept, ...later]), later.map(deliveriesOf)];
    await backups.restore('app');
    await untilReady();
    expect(await open.repeat()).toMatchObject({ status: 201, text: open.first.text });
    expect(await deleted.repeat()).toMatchObject({ status: 410 });
    const added = await buy(3);
    expectOwnAddresses([...kept, ...later, ...added]);
    await until('the lost deliveries', () => later.every((order) => deliveriesOf(order).length >= 2 * EVENTS.length));
    for (const [index, order] of later.entries()) expect(new Set(deliveriesOf(order))).toEqual(new Set(told[index]));
    // A delivery that had no result yet in the backup is sent again.
    for (const order of kept) expect(new Set(deliveriesOf(order)).size).toBe(EVENTS.length);
    expect(await messagesOf([...kept, ...later, ...added])).toMatchObject(messages);
    expect((await shop.api.orders()).items.map(({ id }) => id).sort()).toEqual(
      [...kept, ...later, ...added, open.first.body as Order].map(({ id }) => id).sort(),
    );
    expect(await reconcile()).toMatchObject({ codes: [0, 0] });
  },
  SLOW,
);
