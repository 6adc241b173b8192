import { type Order, WebhookEventType, webhookEventsOf } from '@cpg/contracts';
import { EventStoreDBClient } from '@eventstore/db-client';
import type { Query } from '../harness/api.ts';
import { type KafkaLog, readKafkaLog } from '../harness/kafka-log.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { ledgerFromApi, ledgerFromEvents, readOrderStream } from '../harness/order-stream.ts';
import { type Attempt, type Receiver, startReceiver, verifyDelivery } from '../harness/receiver.ts';
import { purchase, type Purchase, type Shoppers, startShoppers } from '../harness/shoppers.ts';
import { processesOf } from '../harness/stack-files.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const HOOK = '/hook';
const PROCESSES = ['gateway', 'postgres', 'kafka', 'eventstore', 'orders', 'payments', 'webhook-dispatcher-1'];

let stack: Stack;
let shop: Shop;
let receiver: Receiver;
let kafka: KafkaLog;
let secret: string;
const groups: Shoppers<Purchase>[] = [];

beforeAll(async () => {
  [stack, receiver] = await Promise.all([
    startStack({ env: { WEBHOOK_RETRY_SECONDS: '1,1,2,2,2,5,5,5,5' } }),
    startReceiver(),
  ]);
  [shop, kafka] = await Promise.all([openShop(stack), readKafkaLog(stack.kafkaBrokers)]);
  const webhook = await shop.api.createWebhook({ url: receiver.urlOf(HOOK), events: [...WebhookEventType.options] });
  secret = webhook.secret;
  await shop.api.updateWebhook(webhook.id, { is_enabled: true });
});

afterAll(async () => {
  for (const group of groups) group.stop().catch(() => {});
  await shop?.api.close();
  await kafka?.close().catch(() => {});
  await stack?.stop();
  await receiver?.close();
});

const orderIdOf = ({ rawBody }: Attempt): string => {
  const { data, object_type } = JSON.parse(rawBody);
  return object_type === 'order' ? data.id : data.order_id;
};
const attemptsOf = (id: string) => receiver.attemptsOn(HOOK).filter((attempt) => orderIdOf(attempt) === id);
const keysOf = (attempts: readonly Attempt[]) => new Set(attempts.map(({ headers }) => headers['x-idempotency-key']));

/** Waits until Kafka and the merchant's endpoint have every event of a paid order and its payment. */
const waitUntilDelivered = async ({ id, payments }: Order): Promise<void> => {
  const orderMessages = await kafka.waitFor(id, (messages) => messages.some(({ type }) => type === 'order.paid'));
  const paymentMessages = await kafka.waitFor(
    payments[0]!.id,
    (messages) => messages.at(-1)?.type === 'payment.applied',
  );
  const expected = [...orderMessages, ...paymentMessages]
    .filter((message) => webhookEventsOf(message).length > 0)
    .map((message) => message.id);
  await until(`the webhooks of ${id}`, () => {
    const keys = keysOf(attemptsOf(id));
    return expected.every((key) => keys.has(key));
  });
};

const listAll = async (list: 'orders' | 'payments', query: Query = {}) => {
  const items: { id: string }[] = [];
  for (let page = 1; ; page += 1) {
    const found = await shop.api[list]({ ...query, limit: 100, sort: 'asc', page });
    items.push(...found.items);
    if (found.page >= found.totalPages) return items;
  }
};

const allPurchases = async (): Promise<Purchase[]> => (await Promise.all(groups.map((group) => group.stop()))).flat();

describe('after kill -9 during requests', () => {
  test.each(PROCESSES)('of %s, orders are created, paid and published again', async (name) => {
    const shoppers = startShoppers(4, () => purchase(shop.api));
    groups.push(shoppers);
    await until('purchases before the kill', () => shoppers.visits.length >= 4);
    await stack.kill(name);
    const after = shoppers.visits.length;
    await until('purchases after the kill', () => shoppers.visits.length >= after + 8);
    await shoppers.stop();
    await waitUntilDelivered((await purchase(shop.api)).order);
  });

  test('every acknowledged order and payment exists exactly once', async () => {
    const purchases = await allPurchases();
    const orders = (await listAll('orders')) as Order[];
    const byReference = new Map(orders.map((order) => [order.external_reference_id, order]));
    expect(byReference.size).toBe(orders.length);
    for (const { reference, order } of purchases) {
      expect(byReference.get(reference)).toEqual(order);
      expect(order).toMatchObject({ status: 'paid', payments: [{ status: 'applied' }] });
    }
    expect(await listAll('payments')).toHaveLength(orders.length);
    for (const { payments } of orders) expect(await shop.api.payment(payments[0]!.id)).toEqual(payments[0]);
  });

  test('every stream has a valid hash chain and each event once', async () => {
    const store = EventStoreDBClient.connectionString(stack.eventstoreUrl);
    for (const order of (await listAll('orders')) as Order[]) {
      const events = (await readOrderStream(store, order.id))!.map(({ event }) => event);
      expect(ledgerFromEvents(events)).toEqual(ledgerFromApi(order));
      const count = (type: string) => events.filter((event) => event.type === type).length;
      expect(['OrderCreated', 'OrderPaymentReceived', 'OrderPaymentsApplied', 'OrderPaid'].map(count)).toEqual([
        1, 1, 1, 1,
      ]);
    }
    await store.dispose();
  });

  test('Kafka has every event in order without gaps, and webhooks deliver each at least once with the same bytes', async () => {
    for (const order of (await listAll('orders')) as Order[]) {
      await waitUntilDelivered(order);
      const messages = kafka.messagesOf(order.id);
      expect(messages.map(({ sequence }) => Number(sequence))).toEqual(messages.map((_, index) => index));
      expect(messages.at(-1)!.data.resource).toEqual(order);
      const bodies = new Map<string, string>();
      for (const attempt of attemptsOf(order.id)) {
        verifyDelivery(attempt, secret);
        const key = attempt.headers['x-idempotency-key']!;
        expect(attempt.rawBody).toBe(bodies.get(key) ?? attempt.rawBody);
        bodies.set(key, attempt.rawBody);
      }
    }
    expect(kafka.faults()).toEqual([]);
  });
});

test('Ctrl-C stops every process, and a restart on the same data continues', async () => {
  const open = await shop.api.createOrder(orderBody({ external_reference_id: 'open' }));
  const before = {
    orders: await listAll('orders'),
    payments: await listAll('payments'),
    webhooks: await shop.api.webhooks(),
  };
  const pids = Object.values(processesOf(stack.dataDir));
  expect(pids.length).toBeGreaterThanOrEqual(7);
  await kafka.close();
  await stack.interrupt();
  for (const pid of pids) expect(() => process.kill(pid, 0)).toThrow('ESRCH');

  stack = await stack.startAgain();
  kafka = await readKafkaLog(stack.kafkaBrokers);
  const after = {
    orders: await listAll('orders'),
    payments: await listAll('payments'),
    webhooks: await shop.api.webhooks(),
  };
  expect(after).toEqual(before);

  const payment = { order_id: open.id, payment_rail: 'gateway_pay', amount: '10', currency: 'USDT' } as const;
  const paid = await shop.api.pay(payment);
  expect(paid).toMatchObject({ status: 'paid' });
  await waitUntilDelivered(paid);
  expect(kafka.messagesOf(open.id).map(({ sequence }) => sequence)).toEqual(['0', '1', '2', '3']);
});
