import { until } from '../../harness/until.ts';
import type { Row } from '../report.ts';
import { copyWebhook, insertBacklog, queueLength, waitUntilDrained } from './backlog.ts';
import { withBenchStack, DRAINED_WITHIN_MS, type BenchStack } from './bench-stack.ts';

const WEBHOOKS = 100;
const BACKLOG = 20_000;

/** Kills one of two dispatchers while they deliver a backlog. */
export const killedDispatcher = (): Promise<Row[]> => withBenchStack(2, measure);

const measure = async ({ stack, db, endpoints, webhookId }: BenchStack): Promise<Row[]> => {
  const targets = await copyWebhook(db, webhookId, { count: WEBHOOKS, url: endpoints.urlOf('ok') });
  console.log(`kill -9 of one of two dispatchers during ${BACKLOG} deliveries`);
  await endpoints.reset();
  await insertBacklog(db, { events: BACKLOG / WEBHOOKS, webhookIds: targets.map(({ id }) => id), idPrefix: 'KILL' });
  await until('30 % of the backlog', async () => (await queueLength(db)) < BACKLOG * 0.7, {
    withinMs: DRAINED_WITHIN_MS,
  });
  const killedAt = performance.now();
  process.kill(stack.pidOf('webhook-dispatcher-1')!, 'SIGKILL');
  await waitUntilDrained(db);
  const tookMs = performance.now() - killedAt;
  const { requests, deliveries } = await endpoints.received();
  const [lost, twice] = [BACKLOG - deliveries, requests - deliveries];
  return [
    { measure: 'kill -9 during a drain: lost', measured: String(lost), goal: { text: '0', met: lost === 0 } },
    {
      measure: 'delivered twice',
      measured: String(twice),
      goal: { text: '<= in flight (512)', met: twice <= 512 },
    },
    {
      measure: 'until the other one had delivered the rest',
      measured: `${(tookMs / 1_000).toFixed(1)} s`,
      goal: { text: '< 10 s', met: tookMs < 10_000 },
    },
  ];
};
