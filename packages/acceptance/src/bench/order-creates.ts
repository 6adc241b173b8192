import { createApi } from '../harness/api.ts';
import { parentOf } from '../harness/process-tree.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { bareFastify, type Baseline, durableInsert } from './baselines.ts';
import { lagOf, messageCounter } from './lag.ts';
import { residentBytes } from './memory.ts';
import { creator } from './orders.ts';
import { mib, ms, type Row } from './report.ts';
import { oneByOne, sustained, timingsOf } from './timings.ts';
import { startWebhookSink } from './webhook-sink.ts';

const CONNECTIONS = 24;
const SUSTAINED_MS = 10_000;
/** A process that has just started runs its code uncompiled, at half the speed it has from then on. */
const WARM_UP_MS = 20_000;
const SINGLES = 400;
const WEBHOOKS = 150;
const GIB = 2 ** 30;

/** Creating orders: how soon each is answered, how many in a second, and how far behind the rest is then. */
export const orderCreates = async (): Promise<Row[]> => {
  // As npm start runs it, but for the limit of requests.
  const stack = await startStack({ env: { LOG_LEVEL: 'info' } });
  try {
    return await measure(stack);
  } finally {
    await stack.stop();
  }
};

const measure = async (stack: Stack): Promise<Row[]> => {
  const launcher = memoryRoot(stack);
  const idleBytes = launcher && residentBytes(launcher);
  const api = createApi(stack);
  const orders = creator({ baseUrl: stack.baseUrl, apiKey: stack.apiKey, connections: CONNECTIONS });

  console.log('the baselines: bare Fastify with zod, one durable insert by pg');
  const fastify = await bareFastify(CONNECTIONS);
  const insert = await durableInsert(stack.databaseUrl, CONNECTIONS);

  console.log(`${WARM_UP_MS / 1_000} s to warm up`);
  await sustained({ at: CONNECTIONS, forMs: WARM_UP_MS }, orders.create);

  console.log('one create after another');
  const single = await oneByOne(SINGLES, orders.create);

  console.log('from the answered create to the first attempt of its webhook');
  const sink = await startWebhookSink();
  const { id: webhookId } = await api.createWebhook({ url: sink.url, events: ['order:created'] });
  await api.updateWebhook(webhookId, { is_enabled: true });
  const heard = async () => {
    const id = await orders.create();
    const answeredAtMs = performance.now();
    const heardAtMs = await until(`the webhook of ${id}`, () => sink.heardAtMs.get(id));
    return Math.max(0, heardAtMs - answeredAtMs);
  };
  await until('the webhook to be known everywhere', async () => (await heard()) < 1_000);
  const waits: number[] = [];
  for (let n = 0; n < WEBHOOKS; n += 1) waits.push(await heard());
  const firstAttempt = timingsOf(waits);

  console.log(`creates by ${CONNECTIONS} connections for ${SUSTAINED_MS / 1_000} s, with the webhook`);
  const messages = await messageCounter(stack.kafkaBrokers);
  const before = {
    listed: (await api.orders({ limit: 1 })).total,
    relayed: await messages.count(),
    heard: sink.heardAtMs.size,
  };
  const many = await sustained({ at: CONNECTIONS, forMs: SUSTAINED_MS }, orders.create);
  const [projection, relay, webhook] = await Promise.all([
    lagOf('the projection', many.count, async () => (await api.orders({ limit: 1 })).total - before.listed),
    lagOf('the relay', many.count, async () => (await messages.count()) - before.relayed),
    lagOf('the webhooks', many.count, () => sink.heardAtMs.size - before.heard),
  ]);
  const busyBytes = launcher && residentBytes(launcher);

  await Promise.all([api.close(), orders.close(), messages.close()]);
  sink.close();

  const latency = (measure: string, measured: number, of: 'median' | 'p99', limitMs?: number): Row[] => [
    {
      measure,
      measured: ms(measured),
      ...(limitMs && { goal: { text: `< ${limitMs} ms`, met: measured < limitMs } }),
      baseline: against('pg insert', insert.single[of], measured),
    },
    { measure: '', measured: '', baseline: against('bare Fastify', fastify.single[of], measured) },
  ];
  return [
    {
      measure: 'ready, from a built tree and an empty folder',
      measured: `${(stack.readyAfterMs / 1_000).toFixed(1)} s`,
      goal: { text: '< 10 s', met: stack.readyAfterMs < 10_000 },
    },
    memoryRow('resident memory, once ready', idleBytes),
    memoryRow('resident memory, after the load', busyBytes),
    ...latency('order create, one by one, median', single.median, 'median', 10),
    ...latency('order create, one by one, p99', single.p99, 'p99'),
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
    { measure: 'behind at the end: lists', measured: `${projection.orders} orders, ${ms(projection.ms)}` },
    { measure: 'behind at the end: Kafka', measured: `${relay.orders} orders, ${ms(relay.ms)}` },
    { measure: 'behind at the end: webhook', measured: `${webhook.orders} orders, ${ms(webhook.ms)}` },
  ];
};

/** The launcher: everything of the stack runs below it. Null where the system does not tell. */
const memoryRoot = (stack: Stack): number | null => {
  try {
    return parentOf(stack.pidOf('gateway')!);
  } catch {
    return null;
  }
};

const memoryRow = (measure: string, bytes: number | null): Row =>
  bytes === null
    ? { measure, measured: 'not told by this system' }
    : { measure, measured: mib(bytes), goal: { text: '< 1.2 GiB', met: bytes < 1.2 * GIB } };

const against = (name: string, baselineMs: number, measuredMs: number) => ({
  text: `${name} ${ms(baselineMs)}`,
  ratio: measuredMs / baselineMs,
});

const rate = (name: string, { many }: Baseline, perSecond: number) => ({
  text: `${name} ${Math.round(many.perSecond)}/s`,
  ratio: perSecond / many.perSecond,
});
