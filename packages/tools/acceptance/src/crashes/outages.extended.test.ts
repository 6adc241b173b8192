import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Order, WebhookPayload } from '@cpg/contracts';
import { type Answer, retryUntilAnswered } from '../harness/api.ts';
import { type KafkaLog, readKafkaLog } from '../harness/kafka-log.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { freeze } from '../harness/process-tree.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { healthOf } from '../harness/services.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const HOOK = '/hook';
// Requests end after 12 s, and orchestrators probe every few seconds. A later answer counts as a failure.
const ANSWERED_WITHIN_MS = 15_000;
const PROBED_WITHIN_MS = 6_000;

let stack: Stack;
let shop: Shop;
let receiver: Receiver;
let kafka: KafkaLog;
let services: Record<string, string>;

beforeAll(async () => {
  [stack, receiver] = await Promise.all([startStack(), startReceiver()]);
  [shop, kafka] = await Promise.all([openShop(stack), readKafkaLog(stack.kafkaBrokers)]);
  const { ORDERS_URL, PAYMENTS_URL, WEBHOOK_DISPATCHER_URL } = stack.environment;
  services = {
    gateway: stack.baseUrl,
    orders: ORDERS_URL!,
    payments: PAYMENTS_URL!,
    dispatcher: WEBHOOK_DISPATCHER_URL!,
  };
  const webhook = await shop.api.createWebhook({ url: receiver.urlOf(HOOK), events: ['order:created', 'order:paid'] });
  await shop.api.updateWebhook(webhook.id, { is_enabled: true });
});

afterAll(async () => {
  await shop?.api.close();
  await kafka?.close().catch(() => {});
  await stack?.stop();
  await receiver?.close();
});

/** The answer of each service: its status and the dependencies it misses. */
const probe = async (path: '/health' | '/health/ready'): Promise<Record<string, string>> => {
  const answers = Object.entries(services).map(async ([name, url]) => [
    name,
    await healthOf(url, { path, withinMs: PROBED_WITHIN_MS }),
  ]);
  return Object.fromEntries(await Promise.all(answers)) as Record<string, string>;
};

const ALL_READY = { gateway: '200', orders: '200', payments: '200', dispatcher: '200' };

/** Waits until the services report exactly this readiness. Fails if a probe is not answered. */
const waitForReadiness = async (expected: Record<string, string>): Promise<void> => {
  const unanswered: unknown[] = [];
  await until(`readiness to be ${JSON.stringify(expected)}`, async () => {
    const answers = await probe('/health/ready');
    if (Object.values(answers).includes('no answer')) unanswered.push(answers);
    if (isDeepStrictEqual(answers, expected)) return true;
    throw new Error(`it is ${JSON.stringify(answers)}`);
  });
  expect(unanswered).toEqual([]);
};

const withinTime = (answer: Promise<Answer>): Promise<Answer> =>
  Promise.race([
    answer,
    sleep(ANSWERED_WITHIN_MS, undefined, { ref: false }).then(() => {
      throw new Error(`no answer within ${ANSWERED_WITHIN_MS} ms`);
    }),
  ]);

const create = (reference: string) =>
  shop.api.send('POST', '/v1/orders', {
    body: orderBody({ external_reference_id: reference }),
    headers: { 'idempotency-key': reference },
  });
const pay = ({ id, total_amount, currency }: Order) =>
  shop.api.send('POST', '/debug/register-payment', {
    body: { order_id: id, payment_rail: 'crypto_deposit', amount: total_amount, currency, txHash: `0x${id}` },
  });
const read = ({ id }: Order) => shop.api.send('GET', `/v1/orders/${id}`);
const list = () => shop.api.send('GET', '/v1/orders');

const REFUSED = { status: 503, headers: { 'retry-after': '1' }, body: { code: 'dependency_unavailable' } };
/** A write may have taken effect in the frozen engine. */
const UNANSWERED = { ...REFUSED, body: { code: expect.stringMatching(/^(dependency_unavailable|outcome_unknown)$/) } };

interface Outage {
  readonly engine: 'postgres' | 'eventstore' | 'kafka';
  /** The services that are not ready, with the missing dependencies. */
  readonly notReady: Record<string, string>;
  /** Whether the API still serves them. */
  readonly reads: boolean;
  readonly writes: boolean;
}

const OUTAGES: readonly Outage[] = [
  {
    engine: 'postgres',
    // The embedded event store uses PostgreSQL too.
    notReady: {
      gateway: '503 postgres',
      orders: '503 postgres eventstore',
      payments: '503 postgres eventstore',
      dispatcher: '503 postgres',
    },
    reads: false,
    writes: false,
  },
  {
    engine: 'eventstore',
    notReady: { orders: '503 eventstore', payments: '503 eventstore' },
    reads: true,
    writes: false,
  },
  { engine: 'kafka', notReady: { dispatcher: '503 kafka' }, reads: true, writes: true },
];

/** Creates and pays an order, and checks that Kafka and the merchant get its events. */
const checkOrder = async (reference: string): Promise<void> => {
  const order = (await retryUntilAnswered(() => create(reference))).body as Order;
  await retryUntilAnswered(() => pay(order));
  const paid = await shop.api.order(order.id);
  expect(paid).toMatchObject({ status: 'paid', payments: [{ status: 'applied' }] });
  expect((await shop.api.orders({ external_reference_id: reference })).items).toEqual([paid]);
  const messages = await kafka.waitFor(order.id, (all) => all.some(({ type }) => type === 'order.paid'));
  expect(messages.map(({ sequence }) => Number(sequence))).toEqual(messages.map((_, index) => index));
  await until(`the webhooks of ${order.id}`, () => receivedEventsOf(order.id).size === 2);
};

/** The events of an order that reached the merchant. */
const receivedEventsOf = (orderId: string): Set<string> => {
  const payloads = receiver.attemptsOn(HOOK).map(({ rawBody }) => WebhookPayload.parse(JSON.parse(rawBody)));
  return new Set(payloads.filter(({ data }) => data.id === orderId).map((payload) => payload.event));
};

// Freezing PostgreSQL means freezing its child processes, which only Linux lists.
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux.each(OUTAGES)(
  'while $engine is unavailable, services report it, no request hangs and nothing is lost',
  async ({ engine, notReady, reads, writes }) => {
    const before = (await retryUntilAnswered(() => create(`before-${engine}`))).body as Order;
    await waitForReadiness(ALL_READY);
    const resume = freeze(stack.pidOf(engine)!);
    try {
      const requests = Promise.all(
        [create(`during-${engine}`), pay(before), read(before), list()].map((answer) => withinTime(answer)),
      );
      requests.catch(() => {});
      expect(await probe('/health')).toEqual(ALL_READY);
      await waitForReadiness({ ...ALL_READY, ...notReady });
      const [created, paid, fetched, listed] = await requests;
      expect([created, paid]).toMatchObject(writes ? [{ status: 201 }, { status: 201 }] : [UNANSWERED, UNANSWERED]);
      expect([fetched, listed]).toMatchObject(reads ? [{ status: 200 }, { status: 200 }] : [REFUSED, REFUSED]);
      expect(await probe('/health')).toEqual(ALL_READY);
    } finally {
      resume();
    }
    await waitForReadiness(ALL_READY);
    await checkOrder(`before-${engine}`);
    await checkOrder(`during-${engine}`);
  },
);

test('services that start without Kafka accept orders and publish them once Kafka is available', async () => {
  const resume = freeze(stack.pidOf('kafka')!);
  try {
    await Promise.all([stack.kill('orders'), stack.kill('payments')]);
    await waitForReadiness({ ...ALL_READY, dispatcher: '503 kafka' });
    expect(await withinTime(create('without-kafka'))).toMatchObject({ status: 201 });
  } finally {
    resume();
  }
  await checkOrder('without-kafka');
  await waitForReadiness(ALL_READY);
});
