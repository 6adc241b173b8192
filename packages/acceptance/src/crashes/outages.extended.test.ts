import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type Order, WebhookPayload } from '@cpg/contracts';
import type { Answer } from '../harness/api.ts';
import { insist } from '../harness/insist.ts';
import { type KafkaLog, readKafkaLog } from '../harness/kafka-log.ts';
import { openShop, type Shop } from '../harness/merchants.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { freeze } from '../harness/process-tree.ts';
import { type Receiver, startReceiver } from '../harness/receiver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const HOOK = '/hook';
const SLOW = 120_000;
// A request has 12 s, and whoever sees to a service asks how it is every few seconds: an answer later than these is none.
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
}, SLOW);

afterAll(async () => {
  await shop?.api.close();
  await kafka?.close().catch(() => {});
  await stack?.stop();
  await receiver?.close();
}, SLOW);

/** What each service says: the status, and what it misses. */
const probe = async (path: '/health' | '/health/ready'): Promise<Record<string, string>> => {
  const told = Object.entries(services).map(async ([name, url]) => {
    const signal = AbortSignal.timeout(PROBED_WITHIN_MS);
    const answer = await fetch(`${url}${path}`, { signal }).catch(() => null);
    if (!answer) return [name, signal.aborted ? 'no answer' : 'refused'];
    const { missing = [] } = (await answer.json()) as { missing?: string[] };
    return [name, [answer.status, ...missing].join(' ')];
  });
  return Object.fromEntries(await Promise.all(told));
};

const ALL_WELL = { gateway: '200', orders: '200', payments: '200', dispatcher: '200' };

/** Waits until readiness says so much, and no more. No service may ever leave the question without an answer. */
const tells = async (expected: Record<string, string>): Promise<void> => {
  const silent: unknown[] = [];
  await until(`readiness to be ${JSON.stringify(expected)}`, async () => {
    const told = await probe('/health/ready');
    if (Object.values(told).includes('no answer')) silent.push(told);
    if (isDeepStrictEqual(told, expected)) return true;
    throw new Error(`it is ${JSON.stringify(told)}`);
  });
  expect(silent).toEqual([]);
};

const inTime = (asked: Promise<Answer>): Promise<Answer> =>
  Promise.race([
    asked,
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

interface Outage {
  readonly engine: 'postgres' | 'eventstore' | 'kafka';
  /** Which services say that they cannot work, and what they miss. */
  readonly told: Record<string, string>;
  /** What the API goes on doing. */
  readonly reads: boolean;
  readonly writes: boolean;
}

const OUTAGES: readonly Outage[] = [
  {
    engine: 'postgres',
    // The embedded event store keeps its events there.
    told: {
      gateway: '503 postgres',
      orders: '503 database eventstore',
      payments: '503 database eventstore',
      dispatcher: '503 database',
    },
    reads: false,
    writes: false,
  },
  { engine: 'eventstore', told: { orders: '503 eventstore', payments: '503 eventstore' }, reads: true, writes: false },
  { engine: 'kafka', told: { dispatcher: '503 kafka' }, reads: true, writes: true },
];

/** One order, whose every event Kafka and the merchant hear of. */
const isOneForAll = async (reference: string): Promise<void> => {
  const order = (await insist(() => create(reference))).body as Order;
  await insist(() => pay(order));
  const paid = await shop.api.order(order.id);
  expect(paid).toMatchObject({ status: 'paid', payments: [{ status: 'applied' }] });
  expect((await shop.api.orders({ external_reference_id: reference })).items).toEqual([paid]);
  const messages = await kafka.waitFor(order.id, (all) => all.some(({ type }) => type === 'order.paid'));
  expect(messages.map(({ sequence }) => Number(sequence))).toEqual(messages.map((_, index) => index));
  await until(`the webhooks of ${order.id}`, () => heardOf(order.id).size === 2, { withinMs: 30_000 });
};

/** Which events of an order have reached the merchant. */
const heardOf = (orderId: string): Set<string> => {
  const payloads = receiver.attemptsOn(HOOK).map(({ rawBody }) => WebhookPayload.parse(JSON.parse(rawBody)));
  return new Set(payloads.filter(({ data }) => data.id === orderId).map((payload) => payload.event));
};

// PostgreSQL works in processes of its own, and only Linux tells which.
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux.each(OUTAGES)(
  'while $engine does not answer, everybody says what is missing, nothing hangs, and nothing is lost',
  async ({ engine, told, reads, writes }) => {
    const before = (await insist(() => create(`before-${engine}`))).body as Order;
    await tells(ALL_WELL);
    const thaw = freeze(stack.pidOf(engine)!);
    try {
      const asked = Promise.all(
        [create(`during-${engine}`), pay(before), read(before), list()].map((answer) => inTime(answer)),
      );
      asked.catch(() => {});
      expect(await probe('/health')).toEqual(ALL_WELL);
      await tells({ ...ALL_WELL, ...told });
      const [created, paid, seen, listed] = await asked;
      expect([created, paid]).toMatchObject(writes ? [{ status: 201 }, { status: 201 }] : [REFUSED, REFUSED]);
      expect([seen, listed]).toMatchObject(reads ? [{ status: 200 }, { status: 200 }] : [REFUSED, REFUSED]);
      expect(await probe('/health')).toEqual(ALL_WELL);
    } finally {
      thaw();
    }
    await tells(ALL_WELL);
    await isOneForAll(`before-${engine}`);
    await isOneForAll(`during-${engine}`);
  },
  SLOW,
);

test(
  'services that start while there is no Kafka take orders all the same, and tell of them when it is there',
  async () => {
    const thaw = freeze(stack.pidOf('kafka')!);
    try {
      await Promise.all([stack.kill('orders'), stack.kill('payments')]);
      await tells({ ...ALL_WELL, dispatcher: '503 kafka' });
      expect(await inTime(create('without-kafka'))).toMatchObject({ status: 201 });
    } finally {
      thaw();
    }
    await isOneForAll('without-kafka');
    await tells(ALL_WELL);
  },
  SLOW,
);
