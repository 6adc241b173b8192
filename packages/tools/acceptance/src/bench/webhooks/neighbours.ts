import { setTimeout as sleep } from 'node:timers/promises';
import { memoryRow, residentBytes } from '../memory.ts';
import { ms, type Row } from '../report.ts';
import { type Timings, timingsOf } from '../timings.ts';
import { copyWebhook, insertBacklog } from './backlog.ts';
import { startFeed } from './feed.ts';
import { withBenchStack, type BenchStack } from './bench-stack.ts';

const WEBHOOKS = 100;
const EVENTS_PER_SECOND = 200;
const FOR_MS = 40_000;
const DEAD_BACKLOG = 1_000_000;

/** Measures how hanging endpoints, and a backlog for dead ones, delay deliveries to healthy endpoints. */
export const neighbours = (): Promise<Row[]> => withBenchStack(1, measure);

const measure = async ({ stack, db, endpoints, webhookId }: BenchStack): Promise<Row[]> => {
  const copies = (path: string, from: number) =>
    copyWebhook(db, webhookId, { count: WEBHOOKS, url: endpoints.urlOf(path), from });
  const healthy = await copies('ok', 1_000);
  const others = await copies('ok', 2_000);
  const hanging = await copies('hang', 3_000);
  const dead = await copies('hang', 4_000);
  const feed = await startFeed(stack.kafkaBrokers);
  const dispatcher = stack.pidOf('webhook-dispatcher-1')!;

  /** Latency of the healthy endpoints, which get every other event. The rate is always the same; only the neighbours
   *  differ. */
  const latencyBeside = async (neighbours: typeof healthy): Promise<Timings> => {
    await endpoints.reset();
    const mixed = healthy.flatMap(({ merchantId }, index) => [merchantId, neighbours[index]!.merchantId]);
    const sent = await feed.send(mixed, { perSecond: EVENTS_PER_SECOND, forMs: FOR_MS });
    await sleep(2_000);
    const { events } = await endpoints.received();
    const merchantIds = new Set(healthy.map(({ merchantId }) => merchantId));
    const wanted = [...sent].filter(([, merchantId]) => merchantIds.has(merchantId)).map(([id]) => id);
    const latencies = new Map(events.map(([id, { receivedAt, happenedAt }]) => [id, receivedAt - happenedAt]));
    return timingsOf(wanted.map((id) => latencies.get(id) ?? Infinity));
  };

  console.log('healthy endpoints beside healthy ones');
  await latencyBeside(others);
  const besideHealthy = await latencyBeside(others);
  console.log('beside hanging ones');
  const besideHanging = await latencyBeside(hanging);
  console.log(`and with a backlog of ${DEAD_BACKLOG} deliveries to dead ones`);
  await insertBacklog(db, { events: DEAD_BACKLOG / WEBHOOKS, webhookIds: dead.map(({ id }) => id), idPrefix: 'DEAD' });
  // Measures the backlog itself, not the vacuum and checkpoint that follow a million inserts.
  for (const table of ['events', 'deliveries', 'queue']) await db.query(`vacuum analyze webhooks.${table}`);
  await db.query('checkpoint');
  const besideDead = await latencyBeside(hanging);
  await feed.close();
  const row = (measure: string, timings: Timings): Row => ({
    measure,
    measured: `${ms(timings.median)}, ${ms(timings.p99)}`,
    goal: { text: 'p99 <= 1.2 times', met: timings.p99 <= 1.2 * besideHealthy.p99 },
    baseline: {
      text: `none hangs: ${ms(besideHealthy.median)}, ${ms(besideHealthy.p99)}`,
      ratio: timings.p99 / besideHealthy.p99,
    },
  });
  return [
    row(`${EVENTS_PER_SECOND} events/s, half to hanging endpoints: median, p99`, besideHanging),
    row(`and ${DEAD_BACKLOG} due deliveries to dead ones`, besideDead),
    memoryRow('dispatcher memory after the run', residentBytes(dispatcher)),
  ];
};
