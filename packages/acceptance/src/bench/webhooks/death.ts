import { until } from '../../harness/until.ts';
import type { Row } from '../report.ts';
import { copyWebhook, pileUp, queueLength, untilDrained } from './backlog.ts';
import { onStage, PATIENCE_MS, type Stage } from './stage.ts';

const WEBHOOKS = 100;
const BACKLOG = 20_000;

/** One of two dispatchers is killed in the midst of a backlog. */
export const death = (): Promise<Row[]> => onStage(2, measure);

const measure = async ({ stack, db, endpoints, webhookId }: Stage): Promise<Row[]> => {
  const targets = await copyWebhook(db, webhookId, { count: WEBHOOKS, url: endpoints.urlOf('ok') });
  console.log(`kill -9 of one dispatcher in the midst of ${BACKLOG} deliveries`);
  await endpoints.received();
  await pileUp(db, { events: BACKLOG / WEBHOOKS, webhookIds: targets.map(({ id }) => id), seed: 'KILD' });
  await until('a good part', async () => (await queueLength(db)) < BACKLOG * 0.7, { withinMs: PATIENCE_MS });
  const killedAt = performance.now();
  process.kill(stack.pidOf('webhook-dispatcher-1')!, 'SIGKILL');
  await untilDrained(db);
  const tookMs = performance.now() - killedAt;
  const { requests, deliveries } = await endpoints.received();
  const [lost, twice] = [BACKLOG - deliveries, requests - deliveries];
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
