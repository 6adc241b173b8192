import { TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';
import pg from 'pg';
import { startExtraService } from '../harness/extra-service.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { sendShoppers, type Shoppers } from '../harness/shoppers.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const ROUNDS = 2;
const SLOW = 180_000;

let stack: Stack;
let shop: Shop;
let database: pg.Client;
let other: Awaited<ReturnType<typeof startExtraService>>;
let crowd: Shoppers;

beforeAll(async () => {
  stack = await startStack();
  shop = await openShop(stack);
  database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
  other = await startExtraService('orders', stack);
}, SLOW);

afterAll(async () => {
  crowd?.leave();
  other?.thaw();
  await other?.stop();
  await shop?.api.close();
  await database?.end();
  await stack?.stop();
}, SLOW);

/** How often each of them has got a new leader so far. */
const terms = async (): Promise<Record<string, number>> => {
  const { rows } = await database.query<{ name: string; epoch: number }>(
    'select name, epoch::int from orders.checkpoints',
  );
  return Object.fromEntries(rows.map(({ name, epoch }) => [name, epoch]));
};

/** Resolves once both the relay and the projection have another leader than in `before`. */
const takenOver = async (before: Record<string, number>) => {
  const named = async () => {
    const now = await terms();
    return now['relay']! > before['relay']! && now['projection']! > before['projection']!;
  };
  await until('another leader', named, { withinMs: 60_000 });
};

const goOn = async (more: number) => {
  const before = crowd.purchases.length;
  await until('purchases', () => crowd.purchases.length >= before + more, { withinMs: 60_000 });
};

/** Ids by partition, as those read them who read what is committed. */
const topicUntilPaid = async (orderIds: readonly string[]): Promise<string[][]> => {
  const partitions = new Map<number, string[]>();
  const kafka = new Kafka({ brokers: [stack.kafkaBrokers], logLevel: logLevel.NOTHING });
  const reader = kafka.consumer({ groupId: 'leadership', maxWaitTimeInMs: 200 });
  await reader.connect();
  await reader.subscribe({ topics: [TOPICS.orders.name], fromBeginning: true });
  const open = new Set(orderIds);
  await reader.run({
    eachMessage: async ({ partition, message }) => {
      const { id, type, subject } = JSON.parse(message.value!.toString());
      partitions.set(partition, [...(partitions.get(partition) ?? []), id]);
      if (type === 'order.paid') open.delete(subject);
    },
  });
  await until('the payment of every order', () => open.size === 0, { withinMs: 60_000 });
  await reader.disconnect();
  return [...partitions.values()];
};

/** How often a partition goes back to what it had before. Each time it has to run from there, without leaving anything out, at least to where
 *  it was: that is a leader who begins at the checkpoint. Throws where it does not: that is one who wrote after another had taken over. */
const rewinds = (ids: readonly string[]): number => {
  const rank = new Map<string, number>();
  let count = 0;
  let last = -1;
  for (const id of ids) {
    if (!rank.has(id)) rank.set(id, rank.size);
    const next = rank.get(id)!;
    if (next <= last) count += 1;
    else if (next !== last + 1) throw new Error(`${id} is number ${next}, and comes after number ${last}`);
    last = next;
  }
  if (last !== rank.size - 1) throw new Error(`it ends with number ${last} of ${rank.size}`);
  return count;
};

test(
  'a leader that is frozen is replaced, and when it thaws it writes nothing after its successor',
  async () => {
    const first = await terms();
    crowd = sendShoppers(shop.api, { count: 6 });
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = await terms();
      await stack.kill('orders');
      await takenOver(before);
      await goOn(6);
      const led = await terms();
      other.freeze();
      await takenOver(led);
      await goOn(12);
      other.thaw();
      await goOn(12);
    }
    crowd.leave();
    const purchases = await crowd.all();
    const partitions = await topicUntilPaid(purchases.map(({ order }) => order.id));
    const takeovers = (await terms())['relay']! - first['relay']!;
    expect(takeovers).toBeGreaterThanOrEqual(2 * ROUNDS);
    for (const ids of partitions) expect(rewinds(ids)).toBeLessThanOrEqual(takeovers);
    for (const each of purchases) expect(await shop.api.order(each.order.id)).toEqual(each.order);
  },
  SLOW,
);
