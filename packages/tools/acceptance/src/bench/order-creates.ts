import { TOPICS } from '@cpg/contracts';
import { Kafka, logLevel } from 'kafkajs';
import { type Api, createApi } from '../harness/api.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { type DurableInserts, durableInserts } from './durable-inserts.ts';
import { orderClient } from './order-client.ts';
import { cpuMeter, memoryRow, residentBytes } from './process-costs.ts';
import { atLeast, atMost, both, ms, rate, type Row } from './report.ts';
import { oneByOne, sustained, type Throughput, type Timings, timingsOf } from './timings.ts';
import { startWebhookSink, type WebhookSink } from './webhook-sink.ts';

const CONNECTIONS = 24;
const SUSTAINED_MS = 10_000;
/** A process that has just started is slower by half, until its code is compiled. */
const WARM_UP_MS = 20_000;
const SINGLES = 400;
const WEBHOOKS = 150;
const CAUGHT_UP_WITHIN_MS = 60_000;
const PROCESSES = ['postgres', 'orders', 'payments', 'webhook-dispatcher-1', 'gateway', 'eventstore', 'kafka'];

/** Measures order creates: latency, throughput, CPU time, and how far lists, Kafka and webhooks are behind after a
 *  load. */
export const orderCreates = async (): Promise<Row[]> => {
  // As `npm start` runs it, without rate limits.
  const stack = await startStack({ env: { LOG_LEVEL: 'info' } });
  try {
    return rowsOf(await measure(stack));
  } finally {
    await stack.stop();
  }
};

/** How far a reader of the events is behind when the last create is answered. */
interface Lag {
  /** Orders not seen yet. */
  readonly orders: number;
  /** Milliseconds until it has seen all. */
  readonly ms: number;
}

interface Load {
  readonly many: Throughput;
  readonly lag: { readonly projection: Lag; readonly relay: Lag; readonly webhook: Lag };
  /** CPU milliseconds per order by process, until all readers had caught up. */
  readonly cpu: readonly (readonly [process: string, ms: number])[];
}

interface Measured extends Load {
  readonly readyAfterMs: number;
  readonly idleBytes: number;
  readonly busyBytes: number;
  readonly insert: DurableInserts;
  readonly single: Timings;
  readonly firstAttempt: Timings;
}

const measure = async (stack: Stack): Promise<Measured> => {
  const memory = () => residentBytes(stack.launcherPid);
  const idleBytes = memory();
  const api = createApi(stack);
  const orders = orderClient({ ...stack, connections: CONNECTIONS });

  console.log('baseline: one durable insert by pg');
  const insert = await durableInserts(stack, CONNECTIONS);

  const sink = await startWebhookSink(api);
  console.log(`${WARM_UP_MS / 1_000} s of warm-up, with the webhook`);
  await sustained({ at: CONNECTIONS, forMs: WARM_UP_MS }, orders.create);

  console.log('creates one after another');
  const single = await oneByOne(SINGLES, orders.create);

  console.log('from the response of a create to the first attempt of its webhook');
  const firstAttempt = await measureFirstAttempt(orders.create, sink);

  console.log(`creates by ${CONNECTIONS} connections for ${SUSTAINED_MS / 1_000} s`);
  const load = await measureLoad(stack, api, orders.create, sink);
  const busyBytes = memory();

  await Promise.all([api.close(), orders.close()]);
  sink.close();
  return { readyAfterMs: stack.readyAfterMs, idleBytes, busyBytes, insert, single, firstAttempt, ...load };
};

/** Times from the response of a create to the first attempt of its webhook. */
const measureFirstAttempt = async (create: () => Promise<string>, sink: WebhookSink): Promise<Timings> => {
  const waits: number[] = [];
  for (let n = 0; n < WEBHOOKS; n += 1) {
    const orderId = await create();
    const answeredAtMs = performance.now();
    const receivedAtMs = await until(`the webhook of ${orderId}`, () => sink.receivedAtMs.get(orderId));
    waits.push(Math.max(0, receivedAtMs - answeredAtMs));
  }
  return timingsOf(waits);
};

/** Creates orders on all connections, then measures how far lists, Kafka and webhooks are behind. */
const measureLoad = async (stack: Stack, api: Api, create: () => Promise<string>, sink: WebhookSink): Promise<Load> => {
  const messages = await messageCounter(stack.kafkaBrokers);
  const listed = async () => (await api.orders({ limit: 1 })).total;
  const before = { listed: await listed(), relayed: await messages.count(), received: sink.receivedAtMs.size };
  const cpuOf = cpuMeter(stack, PROCESSES);
  const many = await sustained({ at: CONNECTIONS, forMs: SUSTAINED_MS }, create);
  const [projection, relay, webhook] = await Promise.all([
    lagOf('the projection', many.count, async () => (await listed()) - before.listed),
    lagOf('the relay', many.count, async () => (await messages.count()) - before.relayed),
    lagOf('the webhooks', many.count, () => sink.receivedAtMs.size - before.received),
  ]);
  const cpu = cpuOf(many.count);
  await messages.close();
  return { many, lag: { projection, relay, webhook }, cpu };
};

/** Polls `seen` until it reaches `expected`. */
const lagOf = async (reader: string, expected: number, seen: () => Promise<number> | number): Promise<Lag> => {
  const began = performance.now();
  const orders = Math.max(0, expected - (await seen()));
  if (orders === 0) return { orders, ms: 0 };
  await until(`${reader} to catch up`, async () => (await seen()) >= expected, { withinMs: CAUGHT_UP_WITHIN_MS });
  return { orders, ms: performance.now() - began };
};

/** Counts the messages of `orders.v1` by the end offsets of its partitions, at little cost for the broker. */
const messageCounter = async (brokers: string) => {
  const admin = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  return {
    count: async (): Promise<number> => {
      const partitions = await admin.fetchTopicOffsets(TOPICS.orders.name);
      return partitions.reduce((sum, { high }) => sum + Number(high), 0);
    },
    close: () => admin.disconnect(),
  };
};

const rowsOf = (measured: Measured): Row[] => {
  const { readyAfterMs, idleBytes, busyBytes, single, firstAttempt, many, lag, insert, cpu } = measured;
  const latency = (of: 'median' | 'p99', mostMs?: number): Row => ({
    measure: `order create, one by one, ${of}`,
    measured: ms(single[of]),
    goal: mostMs === undefined ? undefined : atMost(single[of], mostMs, ' ms'),
    baseline: { text: `pg insert ${ms(insert.single[of])}`, ratio: single[of] / insert.single[of] },
  });
  const behind = (reader: string, { orders, ms: untilMs }: Lag): Row => ({
    measure: `${reader} behind at the end`,
    measured: `${orders} orders, ${ms(untilMs)}`,
  });
  return [
    {
      measure: 'ready, from a built tree and an empty folder',
      measured: `${(readyAfterMs / 1_000).toFixed(1)} s`,
      goal: atMost(readyAfterMs / 1_000, 10, ' s'),
    },
    memoryRow('resident memory, once ready', idleBytes, 1.2 * 1_024),
    memoryRow('resident memory, after the load', busyBytes, 1.2 * 1_024),
    latency('median', 10),
    latency('p99'),
    {
      measure: 'first webhook attempt after the answer, median',
      measured: ms(firstAttempt.median),
      goal: atMost(firstAttempt.median, 50, ' ms'),
    },
    { measure: 'first webhook attempt after the answer, p99', measured: ms(firstAttempt.p99) },
    {
      measure: `order creates per second, ${CONNECTIONS} connections`,
      measured: rate(many.perSecond),
      goal: atLeast(many.perSecond, 300, '/s'),
      baseline: {
        text: `pg inserts ${rate(insert.many.perSecond)}`,
        ratio: many.perSecond / insert.many.perSecond,
      },
    },
    { measure: 'their latency, median and p99', measured: both(many) },
    { measure: 'CPU per order, all processes', measured: ms(cpu.reduce((sum, [, each]) => sum + each, 0)) },
    ...cpu.map(([name, each]) => ({ measure: `  ${name}`, measured: ms(each) })),
    behind('lists', lag.projection),
    behind('Kafka', lag.relay),
    behind('webhooks', lag.webhook),
  ];
};
