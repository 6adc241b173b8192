import type { WebhookEventType } from '@cpg/contracts';
import { Client } from 'pg';
import { waitUntilConsumed } from '../harness/kafka-log.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { type Attempt, type Receiver, startReceiver, verifyDelivery } from '../harness/receiver.ts';
import { purchase } from '../harness/shoppers.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const ORDERS = 120;
const EVENTS_OF_ORDER = 5;
const EVENTS: WebhookEventType[] = ['order:created', 'order:updated', 'order:paid', 'payment:applied'];

let stack: Stack;
let shop: Shop;
let receiver: Receiver;
let database: Client;
const from_date = new Date().toISOString();

beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack({ dispatchers: 2 }), startReceiver()]);
  database = new Client({ connectionString: stack.environment.DATABASE_URL });
  [shop] = await Promise.all([openShop(stack), database.connect()]);
  let left = ORDERS;
  const shopper = async () => {
    while ((left -= 1) >= 0) await purchase(shop.api);
  };
  await Promise.all(Array.from({ length: 12 }, shopper));
  await waitUntilConsumed('webhook-dispatcher', stack.kafkaBrokers);
});

afterAll(async () => {
  await shop?.api.close();
  await database?.end();
  await stack?.stop();
  await receiver?.close();
});

const keyOf = ({ headers }: Attempt) => headers['x-idempotency-key']!;
/** The first attempt of each event, in order of arrival. */
const firstOfEach = (attempts: readonly Attempt[]) => {
  const seen = new Set<string>();
  return attempts.filter((attempt) => !seen.has(keyOf(attempt)) && seen.add(keyOf(attempt)));
};
const replayOf = async (webhookId: string) => {
  const { rows } = await database.query<{ events: number; finished_at: Date | null }>(
    'select events, finished_at from webhooks.replays where webhook_id = $1',
    [webhookId],
  );
  return rows[0];
};

test.each([
  ['one dispatcher', ['webhook-dispatcher-1']],
  ['both dispatchers', ['webhook-dispatcher-1', 'webhook-dispatcher-2']],
  ['orders and payments', ['orders', 'payments']],
] as const)('kill -9 of %s during a replay loses no event', async (_, victims) => {
  const path = `/killed-${victims.join('-')}`;
  const { id, secret } = await shop.api.createWebhook({ url: receiver.urlOf(path), events: EVENTS });
  await shop.api.updateWebhook(id, { is_enabled: true });
  await shop.api.replay(id, { from_date, to_date: new Date().toISOString() });
  await until('the replay to be halfway', async () => {
    const replay = await replayOf(id);
    if (replay?.finished_at) throw new Error('the replay ended before the kill');
    return replay && replay.events > 0;
  });
  await Promise.all(victims.map((name) => stack.kill(name)));

  const everything = await until('every event', () => {
    const attempts = firstOfEach(receiver.attemptsOn(path));
    return attempts.length === EVENTS_OF_ORDER * ORDERS && attempts;
  });
  const finished = await until('the replay to be done', async () => {
    const replay = await replayOf(id);
    return replay?.finished_at && replay;
  });
  // Each event was queued exactly once.
  expect(finished.events).toBe(EVENTS_OF_ORDER * ORDERS);
  const ofOrder = new Map<string, WebhookEventType[]>();
  for (const attempt of everything) {
    const { event, data } = verifyDelivery(attempt, secret);
    if (event !== 'payment:applied') ofOrder.set(data.id, [...(ofOrder.get(data.id) ?? []), event]);
  }
  expect(ofOrder.size).toBe(ORDERS);
  for (const events of ofOrder.values())
    expect(events).toEqual(['order:created', 'order:updated', 'order:updated', 'order:paid']);
});
