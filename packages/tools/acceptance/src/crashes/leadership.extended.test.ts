import { TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { openShop, type Shop } from '../harness/merchants.ts';
import { startExtraService } from '../harness/services.ts';
import { purchase, type Purchase, type Shoppers, startShoppers } from '../harness/shoppers.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const ROUNDS = 2;

let stack: Stack;
let shop: Shop;
let database: pg.Client;
let other: Awaited<ReturnType<typeof startExtraService>>;
let shoppers: Shoppers<Purchase> | undefined;

beforeAll(async () => {
  stack = await startStack();
  shop = await openShop(stack);
  database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  other = await startExtraService('orders', stack);
});

afterAll(async () => {
  shoppers?.stop().catch(() => {});
  other?.resume();
  await other?.stop();
  await shop?.api.close();
  await database?.end();
  await stack?.stop();
});

/** The fencing token of each checkpoint, by name: it grows by one with each new leader. */
const fencingTokens = async (): Promise<Record<string, number>> => {
  const { rows } = await database.query<{ name: string; epoch: number }>(
    'select name, epoch::int from orders.checkpoints',
  );
  return Object.fromEntries(rows.map(({ name, epoch }) => [name, epoch]));
};

/** Waits until both the relay and the projection have a new leader. */
const waitForTakeover = async (before: Record<string, number>) => {
  const hasNewLeaders = async () => {
    const now = await fencingTokens();
    return now['relay']! > before['relay']! && now['projection']! > before['projection']!;
  };
  await until('new leaders', hasNewLeaders);
};

const waitForPurchases = async (more: number) => {
  const before = shoppers!.visits.length;
  await until('purchases', () => shoppers!.visits.length >= before + more);
};

/** Resolves with the event ids of each partition, as a `read_committed` consumer reads them. */
const topicUntilPaid = async (orderIds: readonly string[]): Promise<string[][]> => {
  const partitions = new Map<number, string[]>();
  const kafka = new Kafka({ brokers: [stack.kafkaBrokers], logLevel: logLevel.NOTHING });
  const reader = kafka.consumer({ groupId: 'leadership', maxWaitTimeInMs: 200 });
  await reader.connect();
  await reader.subscribe({ topics: [TOPICS.orders.name], fromBeginning: true });
  const unpaid = new Set(orderIds);
  await reader.run({
    eachMessage: async ({ partition, message }) => {
      const { id, type, subject } = JSON.parse(message.value!.toString());
      partitions.set(partition, [...(partitions.get(partition) ?? []), id]);
      if (type === 'order.paid') unpaid.delete(subject);
    },
  });
  await until('the payment of every order', () => unpaid.size === 0);
  await reader.disconnect();
  return [...partitions.values()];
};

/** Counts how often a partition repeats earlier events. A new leader repeats events from the checkpoint on, in order
 *  and without gaps. Throws for a gap: then a former leader has written after its successor. */
const rewinds = (ids: readonly string[]): number => {
  const rank = new Map<string, number>();
  let count = 0;
  let last = -1;
  for (const id of ids) {
    if (!rank.has(id)) rank.set(id, rank.size);
    const next = rank.get(id)!;
    if (next <= last) count += 1;
    else if (next !== last + 1) throw new Error(`${id} is number ${next} but follows number ${last}`);
    last = next;
  }
  if (last !== rank.size - 1) throw new Error(`it ends with number ${last} of ${rank.size}`);
  return count;
};

test('a frozen leader is replaced and writes nothing after it resumes', async () => {
  const first = await fencingTokens();
  shoppers = startShoppers(6, () => purchase(shop.api));
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await fencingTokens();
    await stack.kill('orders');
    await waitForTakeover(before);
    await waitForPurchases(6);
    const beforeFreeze = await fencingTokens();
    other.freeze();
    await waitForTakeover(beforeFreeze);
    await waitForPurchases(12);
    other.resume();
    await waitForPurchases(12);
  }
  const purchases = await shoppers.stop();
  const partitions = await topicUntilPaid(purchases.map(({ order }) => order.id));
  const takeovers = (await fencingTokens())['relay']! - first['relay']!;
  expect(takeovers).toBeGreaterThanOrEqual(2 * ROUNDS);
  for (const ids of partitions) expect(rewinds(ids)).toBeLessThanOrEqual(takeovers);
  for (const each of purchases) expect(await shop.api.order(each.order.id)).toEqual(each.order);
});
