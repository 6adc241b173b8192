import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { createApi } from '../harness/api.ts';
import { orderBody } from '../harness/order-bodies.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { cpuSeconds } from './cpu.ts';
import { residentBytes } from './memory.ts';
import { creator } from './orders.ts';
import { mib, ms, type Row } from './report.ts';
import { type Timings, timingsOf } from './timings.ts';
import { copyWebhook, pileUp, queueLength } from './webhooks/backlog.ts';
import { type Endpoints, startEndpoints } from './webhooks/endpoints.ts';
import { startFeed } from './webhooks/feed.ts';

const BACKLOG = 50_000;
const BACKLOG_KILLED = 20_000;
const WEBHOOKS = 100;
const ORDERS_PER_SECOND = 100;
const LATENCY_FOR_MS = 10_000;
const EVENTS_PER_SECOND = 200;
const NEIGHBOURS_FOR_MS = 20_000;
const DEAD_BACKLOG = 1_000_000;
const PATIENCE_MS = 300_000;

/** The dispatcher: how fast it drains, how soon an event arrives, what bad neighbours and sudden deaths cost. */
export const webhooks = async (): Promise<Row[]> => {
  const endpoints = await startEndpoints();
  try {
    console.log('the baseline: undici that signs and posts');
    const bare = await endpoints.bareUndici(BACKLOG, 64);
    const one = await onStack(1, endpoints, async (stage) => {
      const drained = await drain(stage);
      const busyBytes = residentBytes(stage.stack.pidOf('webhook-dispatcher-1')!);
      return { drained, busyBytes, latency: await latency(stage), neighbours: await neighbours(stage) };
    });
    const two = await onStack(2, endpoints, async (stage) => ({
      drained: await drain(stage),
      death: await death(stage),
    }));
    return [
      ...drainRows(one.drained, bare),
      scalingRow(one.drained, two.drained),
      ...latencyRows(one.latency),
      ...one.neighbours,
      memoryRow('its resident memory after a drain', one.busyBytes),
      ...two.death,
    ];
  } finally {
    endpoints.close();
  }
};

interface Stage {
  readonly stack: Stack;
  readonly db: pg.Pool;
  readonly endpoints: Endpoints;
  /** A webhook of the sandbox merchant: enabled, and known to the dispatchers. */
  readonly webhookId: string;
}

const onStack = async <T>(
  dispatchers: number,
  endpoints: Endpoints,
  work: (stage: Stage) => Promise<T>,
): Promise<T> => {
  const stack = await startStack({ dispatchers });
  const db = new pg.Pool({ connectionString: stack.databaseUrl, max: 4 });
  db.on('error', () => {}); // The stack may be gone first.
  try {
    const api = createApi(stack);
    const { id } = await api.createWebhook({ url: endpoints.urlOf('ok/own'), events: ['order:created'] });
    await api.updateWebhook(id, { is_enabled: true });
    await until('a delivery', async () => {
      await api.createOrder(orderBody());
      await sleep(200);
      return (await endpoints.received()).requests > 0;
    });
    await api.close();
    return await work({ stack, db, endpoints, webhookId: id });
  } finally {
    await db.end();
    await stack.stop();
  }
};

// ---- drain --------------------------------------------------------------------------------------------------------

interface Drained {
  readonly perSecond: number;
  /** Of dispatchers and PostgreSQL, for 1,000 deliveries. */
  readonly cpuPerThousand: number | null;
}

const drain = async ({ stack, db, endpoints, webhookId }: Stage): Promise<Drained> => {
  const targets = await copyWebhook(db, webhookId, { count: WEBHOOKS, url: endpoints.urlOf('ok') });
  const pids = ['webhook-dispatcher-1', 'webhook-dispatcher-2', 'postgres'].flatMap((name) => stack.pidOf(name) ?? []);
  console.log(`draining ${BACKLOG} deliveries`);
  await endpoints.received();
  await pileUp(db, { events: BACKLOG / WEBHOOKS, webhookIds: targets.map(({ id }) => id), seed: 'DRAN' });
  const [cpu, began] = [cpuSeconds(pids), performance.now()];
  await until('an empty queue', async () => (await queueLength(db)) === 0, { withinMs: PATIENCE_MS });
  const perSecond = (BACKLOG * 1_000) / (performance.now() - began);
  const used = cpuSeconds(pids);
  const { rows } = await db.query<{ count: string }>(
    "select count(*) from webhooks.attempts where outcome = 'delivered'",
  );
  const { requests } = await endpoints.received();
  if (Number(rows[0]!.count) < BACKLOG || requests < BACKLOG) throw new Error(`only ${requests} of ${BACKLOG} came`);
  return { perSecond, cpuPerThousand: cpu !== null && used !== null ? ((used - cpu) * 1_000) / BACKLOG : null };
};

const drainRows = ({ perSecond, cpuPerThousand }: Drained, bare: number): Row[] => [
  {
    measure: `drain of ${BACKLOG}, one dispatcher`,
    measured: `${Math.round(perSecond)}/s`,
    goal: { text: '>= 5000/s', met: perSecond >= 5_000 },
  },
  {
    measure: '',
    measured: '',
    goal: { text: '>= 0.12 of the baseline', met: perSecond >= 0.12 * bare },
    baseline: { text: `bare undici ${Math.round(bare)}/s`, ratio: perSecond / bare },
  },
  cpuPerThousand === null
    ? { measure: 'CPU for 1,000, with PostgreSQL', measured: 'not told by this system' }
    : {
        measure: 'CPU for 1,000, with PostgreSQL',
        measured: `${cpuPerThousand.toFixed(2)} s`,
        goal: { text: '<= 0.35 s', met: cpuPerThousand <= 0.35 },
      },
];

const scalingRow = (one: Drained, two: Drained): Row => ({
  measure: `drain of ${BACKLOG}, two dispatchers`,
  measured: `${Math.round(two.perSecond)}/s`,
  goal: { text: '>= 1.7 times one, on idle cores', met: two.perSecond >= 1.7 * one.perSecond },
  baseline: { text: `one ${Math.round(one.perSecond)}/s`, ratio: two.perSecond / one.perSecond },
});

// ---- latency ------------------------------------------------------------------------------------------------------

/** From when the event happened, which is just before its commit, to the first byte at the receiver. */
const latency = async ({ stack, endpoints }: Stage): Promise<Timings> => {
  console.log(`${ORDERS_PER_SECOND} orders a second`);
  const orders = creator({ ...stack, connections: 32 });
  const began = performance.now();
  const created: Promise<unknown>[] = [];
  await endpoints.received();
  for (let n = 0; n < (ORDERS_PER_SECOND * LATENCY_FOR_MS) / 1_000; n += 1) {
    created.push(orders.create());
    await sleep(Math.max(0, began + ((n + 1) * 1_000) / ORDERS_PER_SECOND - performance.now()));
  }
  await Promise.all(created);
  await sleep(1_000);
  await orders.close();
  const { delays } = await endpoints.received();
  return timingsOf(delays.map(([, delayMs]) => delayMs));
};

const latencyRows = ({ median, p99 }: Timings): Row[] => [
  {
    measure: `event to first byte at ${ORDERS_PER_SECOND} orders/s, median`,
    measured: ms(median),
    goal: { text: '< 10 ms', met: median < 10 },
  },
  { measure: 'the same, p99', measured: ms(p99), goal: { text: '< 40 ms', met: p99 < 40 } },
];

// ---- bad neighbours -----------------------------------------------------------------------------------------------

/** What endpoints that answer feel of as many others that hang, and of deliveries that wait for the dead. */
const neighbours = async ({ stack, db, endpoints, webhookId }: Stage): Promise<Row[]> => {
  const copies = (path: string, from: number) =>
    copyWebhook(db, webhookId, { count: WEBHOOKS, url: endpoints.urlOf(path), from });
  const sound = await copies('ok', 1_000);
  const hanging = await copies('hang', 2_000);
  const dead = await copies('hang', 3_000);
  const merchantsOf = (targets: readonly { merchantId: string }[]) => targets.map(({ merchantId }) => merchantId);
  const feed = await startFeed(stack.kafkaBrokers);
  const dispatcher = stack.pidOf('webhook-dispatcher-1')!;

  /** Of the sound ones, who get `perSecond` events. */
  const feel = async (others: readonly string[]): Promise<Timings> => {
    await endpoints.received();
    const mixed = merchantsOf(sound).flatMap((merchantId, index) => [merchantId, ...others.slice(index, index + 1)]);
    const perSecond = others.length > 0 ? EVENTS_PER_SECOND : EVENTS_PER_SECOND / 2;
    const sent = await feed.send(mixed, { perSecond, forMs: NEIGHBOURS_FOR_MS });
    await sleep(2_000);
    const { delays } = await endpoints.received();
    const healthy = new Set(merchantsOf(sound));
    const wanted = [...sent].filter(([, merchantId]) => healthy.has(merchantId)).map(([id]) => id);
    const came = new Map(delays);
    return timingsOf(wanted.map((id) => came.get(id) ?? Infinity));
  };

  console.log('sound endpoints by themselves');
  await feel([]);
  const alone = await feel([]);
  console.log('beside as many that hang');
  const besideHanging = await feel(merchantsOf(hanging));
  console.log(`and with ${DEAD_BACKLOG} deliveries due to dead ones`);
  await pileUp(db, { events: DEAD_BACKLOG / WEBHOOKS, webhookIds: dead.map(({ id }) => id), seed: 'DEAD' });
  await db.query('analyze webhooks.queue');
  const besideDead = await feel(merchantsOf(hanging));
  await feed.close();
  const row = (measure: string, felt: Timings): Row => ({
    measure,
    measured: `${ms(felt.median)}, ${ms(felt.p99)}`,
    goal: { text: 'p99 <= 1.2 times', met: felt.p99 <= 1.2 * alone.p99 },
    baseline: { text: `alone ${ms(alone.median)}, ${ms(alone.p99)}`, ratio: felt.p99 / alone.p99 },
  });
  return [
    row(`${EVENTS_PER_SECOND} events/s, half to endpoints that hang: median, p99`, besideHanging),
    row(`and ${DEAD_BACKLOG} deliveries due to dead ones`, besideDead),
    memoryRow('its resident memory then', residentBytes(dispatcher)),
  ];
};

const memoryRow = (measure: string, bytes: number | null): Row =>
  bytes === null
    ? { measure, measured: 'not told by this system' }
    : { measure, measured: mib(bytes), goal: { text: '< 250 MiB', met: bytes < 250 * 2 ** 20 } };

// ---- death --------------------------------------------------------------------------------------------------------

/** One of two dispatchers is killed in the midst of a backlog. */
const death = async ({ stack, db, endpoints, webhookId }: Stage): Promise<Row[]> => {
  const targets = await copyWebhook(db, webhookId, { count: WEBHOOKS, url: endpoints.urlOf('ok'), from: 1_000 });
  console.log(`kill -9 of one dispatcher in the midst of ${BACKLOG_KILLED} deliveries`);
  await endpoints.received();
  await pileUp(db, { events: BACKLOG_KILLED / WEBHOOKS, webhookIds: targets.map(({ id }) => id), seed: 'KILD' });
  await until('a good part', async () => (await queueLength(db)) < BACKLOG_KILLED * 0.7, { withinMs: PATIENCE_MS });
  const killedAt = performance.now();
  process.kill(stack.pidOf('webhook-dispatcher-1')!, 'SIGKILL');
  await until('an empty queue', async () => (await queueLength(db)) === 0, { withinMs: PATIENCE_MS });
  const tookMs = performance.now() - killedAt;
  const { requests, deliveries } = await endpoints.received();
  const [lost, twice] = [BACKLOG_KILLED - deliveries, requests - deliveries];
  return [
    { measure: 'kill -9 in a drain: lost', measured: String(lost), goal: { text: '0', met: lost === 0 } },
    {
      measure: 'delivered twice',
      measured: String(twice),
      goal: { text: '<= in flight (512)', met: twice <= 512 },
    },
    {
      measure: 'until the rest was taken over and delivered',
      measured: `${(tookMs / 1_000).toFixed(1)} s`,
      goal: { text: '< 10 s', met: tookMs < 10_000 },
    },
  ];
};
