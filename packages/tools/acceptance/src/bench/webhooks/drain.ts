import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from '../cpu.ts';
import { memoryRow, residentBytes } from '../memory.ts';
import { atLeast, atMost, type Row } from '../report.ts';
import { copyWebhook, insertBacklog, waitUntilDrained } from './backlog.ts';
import { withBenchStack, type BenchStack } from './bench-stack.ts';

const WEBHOOKS = 100;
const BASELINE_CONNECTIONS = 64;

interface Backlog {
  /** Path of the endpoints. */
  readonly path: 'ok' | 'slow';
  readonly deliveries: number;
  /** The ids of the webhooks are numbered after this number. Different for each backlog of a stack. */
  readonly webhooksFrom: number;
  /** Different for each backlog of a stack. */
  readonly idPrefix: string;
}

const FAST: Backlog = { path: 'ok', deliveries: 50_000, webhooksFrom: 100, idPrefix: 'FAST' };
const SLOW: Backlog = { path: 'slow', deliveries: 30_000, webhooksFrom: 200, idPrefix: 'SLOW' };

interface DrainResult {
  readonly perSecond: number;
  /** CPU seconds of dispatchers and PostgreSQL for 1,000 deliveries. Null on a system without /proc. */
  readonly cpuSecondsPer1000: number | null;
}

interface DrainResults {
  readonly fast: DrainResult;
  readonly slow: DrainResult;
}

/** Measures how fast one and two dispatchers deliver a backlog. */
export const measureDrains = async (): Promise<Row[]> => {
  const oneDispatcher = await withBenchStack(1, async (bench) => {
    console.log('baseline: sign and post with undici');
    const baselinePerSecond = await bench.endpoints.bareUndici(FAST.deliveries, BASELINE_CONNECTIONS);
    const fast = await measureDrain(bench, FAST);
    const memoryBytes = residentBytes(bench.stack.pidOf('webhook-dispatcher-1')!);
    const slow = await measureDrain(bench, SLOW);
    return { baselinePerSecond, fast, memoryBytes, slow };
  });
  const twoDispatchers = await withBenchStack(2, async (bench) => {
    const fast = await measureDrain(bench, FAST);
    const slow = await measureDrain(bench, SLOW);
    return { fast, slow };
  });
  return [
    ...oneDispatcherRows(oneDispatcher.fast, oneDispatcher.baselinePerSecond),
    memoryRow('dispatcher memory after the drain', oneDispatcher.memoryBytes),
    ...twoDispatcherRows(oneDispatcher, twoDispatchers),
  ];
};

const measureDrain = async (
  { stack, db, endpoints, webhookId }: BenchStack,
  { path, deliveries, webhooksFrom, idPrefix }: Backlog,
): Promise<DrainResult> => {
  const webhooks = await copyWebhook(db, webhookId, {
    count: WEBHOOKS,
    url: endpoints.urlOf(path),
    from: webhooksFrom,
  });
  const webhookIds = webhooks.map(({ id }) => id);
  const pids = ['webhook-dispatcher-1', 'webhook-dispatcher-2', 'postgres'].flatMap((name) => stack.pidOf(name) ?? []);
  console.log(`draining ${deliveries} deliveries to ${path}`);
  // Lets earlier work of the dispatchers end, so that it is not measured.
  await sleep(1_000);
  await endpoints.reset();
  await insertBacklog(db, { events: deliveries / WEBHOOKS, webhookIds, idPrefix });
  const cpuBefore = cpuSeconds(pids);
  const startedAt = performance.now();
  await waitUntilDrained(db);
  const perSecond = (deliveries * 1_000) / (performance.now() - startedAt);
  const cpuAfter = cpuSeconds(pids);
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from webhooks.attempts join webhooks.deliveries on deliveries.id = delivery_id
     where webhook_id = any($1) and outcome = 'delivered'`,
    [webhookIds],
  );
  const recorded = Number(rows[0]!.count);
  const received = (await endpoints.received()).deliveries;
  if (recorded < deliveries || received < deliveries)
    throw new Error(`of ${deliveries} deliveries, ${recorded} are recorded as delivered and ${received} were received`);
  const cpuSecondsPer1000 =
    cpuBefore === null || cpuAfter === null ? null : ((cpuAfter - cpuBefore) * 1_000) / deliveries;
  return { perSecond, cpuSecondsPer1000 };
};

const oneDispatcherRows = ({ perSecond, cpuSecondsPer1000 }: DrainResult, baselinePerSecond: number): Row[] => [
  {
    measure: `drain of ${FAST.deliveries}, one dispatcher`,
    measured: rate(perSecond),
    goal: atLeast(perSecond, 5_000, '/s'),
  },
  {
    measure: 'the same, compared with bare undici',
    measured: rate(perSecond),
    goal: atLeast(perSecond / baselinePerSecond, 0.12, ' of the baseline'),
    baseline: { text: `bare undici ${rate(baselinePerSecond)}`, ratio: perSecond / baselinePerSecond },
  },
  cpuSecondsPer1000 === null
    ? { measure: 'CPU for 1,000, with PostgreSQL', measured: 'not available on this system' }
    : {
        measure: 'CPU for 1,000, with PostgreSQL',
        measured: `${cpuSecondsPer1000.toFixed(2)} s`,
        goal: atMost(cpuSecondsPer1000, 0.35, ' s'),
      },
];

// With endpoints that answer at once, the result of two dispatchers depends on the number of cores, because one
// dispatcher, PostgreSQL and the receiver keep a few cores busy. With slow endpoints, one dispatcher waits at its limit
// of attempts in flight.
const twoDispatcherRows = (one: DrainResults, two: DrainResults): Row[] => {
  const slowRatio = two.slow.perSecond / one.slow.perSecond;
  return [
    {
      measure: `drain of ${FAST.deliveries}, two dispatchers, all cores busy`,
      measured: rate(two.fast.perSecond),
      baseline: { text: `one ${rate(one.fast.perSecond)}`, ratio: two.fast.perSecond / one.fast.perSecond },
    },
    {
      measure: `drain of ${SLOW.deliveries} to endpoints that take 250 ms, two dispatchers`,
      measured: rate(two.slow.perSecond),
      goal: atLeast(slowRatio, 1.7, ' times one'),
      baseline: { text: `one ${rate(one.slow.perSecond)}`, ratio: slowRatio },
    },
  ];
};

const rate = (perSecond: number): string => `${Math.round(perSecond)}/s`;
