import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSeconds } from '../cpu.ts';
import { memoryRow, residentBytes } from '../memory.ts';
import type { Row } from '../report.ts';
import { copyWebhook, insertBacklog, waitUntilDrained } from './backlog.ts';
import { withBenchStack, type BenchStack } from './bench-stack.ts';

const WEBHOOKS = 100;
const BACKLOG = 50_000;
const BACKLOG_SLOW = 30_000;

/** Measures how fast one and two dispatchers deliver a backlog. */
export const drains = async (): Promise<Row[]> => {
  const one = await withBenchStack(1, async (bench) => {
    console.log('baseline: sign and post with undici');
    const bare = await bench.endpoints.bareUndici(BACKLOG, 64);
    const prompt = await drain(bench, { path: 'ok', backlog: BACKLOG });
    const memory = residentBytes(bench.stack.pidOf('webhook-dispatcher-1')!);
    return { bare, prompt, memory, slow: await drain(bench, { path: 'slow', backlog: BACKLOG_SLOW }) };
  });
  const two = await withBenchStack(2, async (bench) => ({
    prompt: await drain(bench, { path: 'ok', backlog: BACKLOG }),
    slow: await drain(bench, { path: 'slow', backlog: BACKLOG_SLOW }),
  }));
  return [
    ...drainRows(one.prompt, one.bare),
    memoryRow('its resident memory afterwards', one.memory),
    ...scalingRows(one, two),
  ];
};

interface Drained {
  readonly perSecond: number;
  /** CPU seconds of dispatchers and PostgreSQL for 1,000 deliveries. */
  readonly cpuPerThousand: number | null;
}

let round = 0;

const drain = async (
  { stack, db, endpoints, webhookId }: BenchStack,
  { path, backlog }: { path: string; backlog: number },
): Promise<Drained> => {
  round += 1;
  const targets = await copyWebhook(db, webhookId, {
    count: WEBHOOKS,
    url: endpoints.urlOf(path),
    from: round * WEBHOOKS,
  });
  const pids = ['webhook-dispatcher-1', 'webhook-dispatcher-2', 'postgres'].flatMap((name) => stack.pidOf(name) ?? []);
  console.log(`draining ${backlog} deliveries to ${path}`);
  await sleep(1_000);
  await endpoints.received();
  await insertBacklog(db, { events: backlog / WEBHOOKS, webhookIds: targets.map(({ id }) => id), seed: `DRA${round}` });
  const [cpu, began] = [cpuSeconds(pids), performance.now()];
  await waitUntilDrained(db);
  const perSecond = (backlog * 1_000) / (performance.now() - began);
  const used = cpuSeconds(pids);
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from webhooks.attempts join webhooks.deliveries on deliveries.id = delivery_id
     where webhook_id = any($1) and outcome = 'delivered'`,
    [targets.map(({ id }) => id)],
  );
  const { deliveries } = await endpoints.received();
  if (Number(rows[0]!.count) < backlog || deliveries < backlog)
    throw new Error(`only ${deliveries} of ${backlog} were delivered`);
  return { perSecond, cpuPerThousand: cpu !== null && used !== null ? ((used - cpu) * 1_000) / backlog : null };
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
    ? { measure: 'CPU for 1,000, with PostgreSQL', measured: 'not available on this system' }
    : {
        measure: 'CPU for 1,000, with PostgreSQL',
        measured: `${cpuPerThousand.toFixed(2)} s`,
        goal: { text: '<= 0.35 s', met: cpuPerThousand <= 0.35 },
      },
];

// With endpoints that answer at once, the result of two dispatchers depends on the number of cores, because one
// dispatcher, PostgreSQL and the receiver keep a few cores busy. With slow endpoints, one dispatcher waits at its limit
// of attempts in flight.
const scalingRows = (one: Record<'prompt' | 'slow', Drained>, two: typeof one): Row[] => [
  {
    measure: `drain of ${BACKLOG}, two dispatchers, all cores busy`,
    measured: `${Math.round(two.prompt.perSecond)}/s`,
    baseline: {
      text: `one ${Math.round(one.prompt.perSecond)}/s`,
      ratio: two.prompt.perSecond / one.prompt.perSecond,
    },
  },
  {
    measure: `drain of ${BACKLOG_SLOW} to endpoints that take 250 ms, two dispatchers`,
    measured: `${Math.round(two.slow.perSecond)}/s`,
    goal: { text: '>= 1.7 times one', met: two.slow.perSecond >= 1.7 * one.slow.perSecond },
    baseline: { text: `one ${Math.round(one.slow.perSecond)}/s`, ratio: two.slow.perSecond / one.slow.perSecond },
  },
];
