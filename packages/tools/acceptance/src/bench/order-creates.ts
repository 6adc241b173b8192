import { type Api, createApi } from '../harness/api.ts';
import { parentOf } from '../harness/process-tree.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { bareFastify, type Baseline, durableInsert } from './baselines.ts';
import { type CpuPerOrder, cpuMeter, cpuRows } from './cpu-per-order.ts';
import { type Lag, lagOf, messageCounter } from './lag.ts';
import { residentBytes } from './memory.ts';
import { creator } from './orders.ts';
import { mib, ms, type Row } from './report.ts';
import { oneByOne, sustained, type Throughput, type Timings, timingsOf } from './timings.ts';
import { startWebhookSink, type WebhookSink } from './webhook-sink.ts';

const CONNECTIONS = 24;
const SUSTAINED_MS = 10_000;
/** A process that has just started is slower by half, until its code is compiled. */
const WARM_UP_MS = 20_000;
const SINGLES = 400;
const WEBHOOKS = 150;
const GIB = 2 ** 30;

/** Measures order creates: latency, throughput, and how far lists, Kafka and webhooks are behind after a load. */
export const orderCreates = async (): Promise<Row[]> => {
  // As `npm start` runs it, without rate limits.
  const stack = await startStack({ env: { LOG_LEVEL: 'info' } });
  try {
    return rowsOf(await measure(stack));
  } finally {
    await stack.stop();
  }
};

interface Measured {
  readonly readyAfterMs: number;
  readonly idleBytes: number | null;
  readonly busyBytes: number | null;
  readonly fastify: Baseline;
  readonly insert: Baseline;
  readonly single: Timings;
  readonly firstAttempt: Timings;
  readonly many: Throughput;
  /** How far each reader of the events was behind after the load. */
  readonly lag: { readonly projection: Lag; readonly relay: Lag; readonly webhook: Lag };
  /** Until all readers had caught up. Null on a system without /proc. */
  readonly cpu: CpuPerOrder | null;
}

const measure = async (stack: Stack): Promise<Measured> => {
  const launcher = launcherOf(stack);
  const idleBytes = launcher && residentBytes(launcher);
  const api = createApi(stack);
  const orders = creator({ baseUrl: stack.baseUrl, apiKey: stack.apiKey, connections: CONNECTIONS });

  console.log('baselines: bare Fastify with zod, one durable insert by pg');
  const fastify = await bareFastify(CONNECTIONS);
  const insert = await durableInsert(stack, CONNECTIONS);

  const sink = await startWebhookSink();
  await subscribe(api, sink);
  console.log(`${WARM_UP_MS / 1_000} s of warm-up, with the webhook`);
  await sustained({ at: CONNECTIONS, forMs: WARM_UP_MS }, orders.create);

  console.log('creates one after another');
  const single = await oneByOne(SINGLES, orders.create);

  console.log('from the response of a create to the first attempt of its webhook');
  const firstAttempt = await measureFirstAttempt(orders.create, sink);

  console.log(`creates by ${CONNECTIONS} connections for ${SUSTAINED_MS / 1_000} s`);
  const { many, lag, cpu } = await measureLoad(stack, api, orders.create, sink);
  const busyBytes = launcher && residentBytes(launcher);

  await Promise.all([api.close(), orders.close()]);
  sink.close();
  const { readyAfterMs } = stack;
  return { readyAfterMs, idleBytes, busyBytes, fastify, insert, single, firstAttempt, many, lag, cpu };
};

const subscribe = async (api: Api, { url }: WebhookSink): Promise<void> => {
  const { id } = await api.createWebhook({ url, events: ['order:created'] });
  await api.updateWebhook(id, { is_enabled: true });
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
const measureLoad = async (
  stack: Stack,
  api: Api,
  create: () => Promise<string>,
  sink: WebhookSink,
): Promise<Pick<Measured, 'many' | 'lag' | 'cpu'>> => {
  const messages = await messageCounter(stack.kafkaBrokers);
  const listed = async () => (await api.orders({ limit: 1 })).total;
  const before = { listed: await listed(), relayed: await messages.count(), received: sink.receivedAtMs.size };
  const cpuOf = cpuMeter(stack);
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

const rowsOf = (measured: Measured): Row[] => {
  const { readyAfterMs, idleBytes, busyBytes, firstAttempt, many, lag, insert, fastify } = measured;
  return [
    {
      measure: 'ready, from a built tree and an empty folder',
      measured: `${(readyAfterMs / 1_000).toFixed(1)} s`,
      goal: { text: '< 10 s', met: readyAfterMs < 10_000 },
    },
    memoryRow('resident memory, once ready', idleBytes),
    memoryRow('resident memory, after the load', busyBytes),
    ...latencyRows(measured, 'median', 10),
    ...latencyRows(measured, 'p99'),
    {
      measure: 'first webhook attempt after the answer, median',
      measured: ms(firstAttempt.median),
      goal: { text: '< 50 ms', met: firstAttempt.median < 50 },
    },
    { measure: 'first webhook attempt after the answer, p99', measured: ms(firstAttempt.p99) },
    {
      measure: `order creates per second, ${CONNECTIONS} connections`,
      measured: `${Math.round(many.perSecond)}/s`,
      goal: { text: '>= 300/s', met: many.perSecond >= 300 },
      baseline: rate('pg inserts', insert, many.perSecond),
    },
    { measure: '', measured: '', baseline: rate('bare Fastify', fastify, many.perSecond) },
    { measure: 'their latency, median and p99', measured: `${ms(many.median)}, ${ms(many.p99)}` },
    ...cpuRows(measured),
    { measure: 'lists behind at the end', measured: `${lag.projection.orders} orders, ${ms(lag.projection.ms)}` },
    { measure: 'Kafka behind at the end', measured: `${lag.relay.orders} orders, ${ms(lag.relay.ms)}` },
    { measure: 'webhooks behind at the end', measured: `${lag.webhook.orders} orders, ${ms(lag.webhook.ms)}` },
  ];
};

const latencyRows = ({ single, insert, fastify }: Measured, of: 'median' | 'p99', limitMs?: number): Row[] => [
  {
    measure: `order create, one by one, ${of}`,
    measured: ms(single[of]),
    ...(limitMs && { goal: { text: `< ${limitMs} ms`, met: single[of] < limitMs } }),
    baseline: against('pg insert', insert.single[of], single[of]),
  },
  { measure: '', measured: '', baseline: against('bare Fastify', fastify.single[of], single[of]) },
];

/** The launcher, the parent of all processes of the stack. Null on a system without /proc. */
const launcherOf = (stack: Stack): number | null => {
  try {
    return parentOf(stack.pidOf('gateway')!);
  } catch {
    return null;
  }
};

const memoryRow = (measure: string, bytes: number | null): Row =>
  bytes === null
    ? { measure, measured: 'not available on this system' }
    : { measure, measured: mib(bytes), goal: { text: '< 1.2 GiB', met: bytes < 1.2 * GIB } };

const against = (name: string, baselineMs: number, measuredMs: number) => ({
  text: `${name} ${ms(baselineMs)}`,
  ratio: measuredMs / baselineMs,
});

const rate = (name: string, { many }: Baseline, perSecond: number) => ({
  text: `${name} ${Math.round(many.perSecond)}/s`,
  ratio: perSecond / many.perSecond,
});
