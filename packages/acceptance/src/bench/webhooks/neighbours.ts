import { setTimeout as sleep } from 'node:timers/promises';
import { memoryRow, residentBytes } from '../memory.ts';
import { ms, type Row } from '../report.ts';
import { type Timings, timingsOf } from '../timings.ts';
import { copyWebhook, pileUp } from './backlog.ts';
import { startFeed } from './feed.ts';
import { onStage, type Stage } from './stage.ts';

const WEBHOOKS = 100;
const EVENTS_PER_SECOND = 200;
const FOR_MS = 40_000;
const DEAD_BACKLOG = 1_000_000;

/** What endpoints that answer feel of as many others that hang, and of deliveries that wait for the dead. */
export const neighbours = (): Promise<Row[]> => onStage(1, measure);

const measure = async ({ stack, db, endpoints, webhookId }: Stage): Promise<Row[]> => {
  const copies = (path: string, from: number) =>
    copyWebhook(db, webhookId, { count: WEBHOOKS, url: endpoints.urlOf(path), from });
  const sound = await copies('ok', 1_000);
  const others = await copies('ok', 2_000);
  const hanging = await copies('hang', 3_000);
  const dead = await copies('hang', 4_000);
  const feed = await startFeed(stack.kafkaBrokers);
  const dispatcher = stack.pidOf('webhook-dispatcher-1')!;

  /** Of the sound ones, who get every other event. The rate is the same whoever the neighbours are: it is they who differ, not the load. */
  const feel = async (neighbours: typeof sound): Promise<Timings> => {
    await endpoints.received();
    const mixed = sound.flatMap(({ merchantId }, index) => [merchantId, neighbours[index]!.merchantId]);
    const sent = await feed.send(mixed, { perSecond: EVENTS_PER_SECOND, forMs: FOR_MS });
    await sleep(2_000);
    const { events } = await endpoints.received();
    const healthy = new Set(sound.map(({ merchantId }) => merchantId));
    const wanted = [...sent].filter(([, merchantId]) => healthy.has(merchantId)).map(([id]) => id);
    const came = new Map(events.map(([id, { cameAt, happenedAt }]) => [id, cameAt - happenedAt]));
    return timingsOf(wanted.map((id) => came.get(id) ?? Infinity));
  };

  console.log('sound endpoints beside sound ones');
  await feel(others);
  const besideSound = await feel(others);
  console.log('beside as many that hang');
  const besideHanging = await feel(hanging);
  console.log(`and with ${DEAD_BACKLOG} deliveries due to dead ones`);
  await pileUp(db, { events: DEAD_BACKLOG / WEBHOOKS, webhookIds: dead.map(({ id }) => id), seed: 'DEAD' });
  // What is measured is that they are there, not what PostgreSQL does in the minutes after a million rows came at once.
  for (const table of ['events', 'deliveries', 'queue']) await db.query(`vacuum analyze webhooks.${table}`);
  await db.query('checkpoint');
  const besideDead = await feel(hanging);
  await feed.close();
  const row = (measure: string, felt: Timings): Row => ({
    measure,
    measured: `${ms(felt.median)}, ${ms(felt.p99)}`,
    goal: { text: 'p99 <= 1.2 times', met: felt.p99 <= 1.2 * besideSound.p99 },
    baseline: {
      text: `none hangs: ${ms(besideSound.median)}, ${ms(besideSound.p99)}`,
      ratio: felt.p99 / besideSound.p99,
    },
  });
  return [
    row(`${EVENTS_PER_SECOND} events/s, half to endpoints that hang: median, p99`, besideHanging),
    row(`and ${DEAD_BACKLOG} deliveries due to dead ones`, besideDead),
    memoryRow('its resident memory then', residentBytes(dispatcher)),
  ];
};
