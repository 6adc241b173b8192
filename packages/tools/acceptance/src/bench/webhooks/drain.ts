import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { until } from '../../harness/until.ts';
import { cpuMs, memoryRow, residentBytes } from '../process-costs.ts';
import { atLeast, atMost, ms, rate, type Row } from '../report.ts';
import { type BenchStack, withBenchStack } from './bench-stack.ts';

const WEBHOOKS = 100;
const DRAINED_WITHIN_MS = 300_000;
const DISPATCHER_MIB = 250;

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
  /** CPU milliseconds of dispatchers and PostgreSQL for each delivery. */
  readonly cpuMs: number;
}

/** Measures how fast one and two dispatchers deliver a backlog. */
export const measureDrains = async (): Promise<Row[]> => {
  const one = await withBenchStack(1, async (bench) => {
    const fast = await measureDrain(bench, FAST);
    const memoryBytes = residentBytes(bench.stack.pidOf('webhook-dispatcher-1')!);
    return { fast, memoryBytes, slow: await measureDrain(bench, SLOW) };
  });
  const two = await withBenchStack(2, async (bench) => ({
    fast: await measureDrain(bench, FAST),
    slow: await measureDrain(bench, SLOW),
  }));
  const slowRatio = two.slow.perSecond / one.slow.perSecond;
  return [
    {
      measure: `drain of ${FAST.deliveries}, one dispatcher`,
      measured: rate(one.fast.perSecond),
      goal: atLeast(one.fast.perSecond, 5_000, '/s'),
    },
    {
      measure: 'CPU for each, with PostgreSQL',
      measured: ms(one.fast.cpuMs),
      goal: atMost(one.fast.cpuMs, 0.35, ' ms'),
    },
    memoryRow('dispatcher memory after the drain', one.memoryBytes, DISPATCHER_MIB),
    // One dispatcher, PostgreSQL and the receiver keep a few cores busy, so this depends on the number of cores.
    {
      measure: `drain of ${FAST.deliveries}, two dispatchers, all cores busy`,
      measured: rate(two.fast.perSecond),
      baseline: { text: `one ${rate(one.fast.perSecond)}`, ratio: two.fast.perSecond / one.fast.perSecond },
    },
    // With slow endpoints, one dispatcher waits at its limit of attempts in flight.
    {
      measure: `drain of ${SLOW.deliveries} to endpoints that take 250 ms, two dispatchers`,
      measured: rate(two.slow.perSecond),
      goal: atLeast(slowRatio, 1.7, ' times one'),
      baseline: { text: `one ${rate(one.slow.perSecond)}`, ratio: slowRatio },
    },
  ];
};

const measureDrain = async (
  { stack, db, endpoints, webhookId }: BenchStack,
  { path, deliveries, webhooksFrom, idPrefix }: Backlog,
): Promise<DrainResult> => {
  const webhookIds = await copyWebhook(db, webhookId, endpoints.urlOf(path), webhooksFrom);
  const pids = ['webhook-dispatcher-1', 'webhook-dispatcher-2', 'postgres'].flatMap((name) => stack.pidOf(name) ?? []);
  console.log(`draining ${deliveries} deliveries to ${path}`);
  // Lets earlier work of the dispatchers end, so that it is not measured.
  await sleep(1_000);
  await endpoints.received();
  await insertBacklog(db, { events: deliveries / WEBHOOKS, webhookIds, idPrefix });
  const cpuBefore = cpuMs(...pids);
  const startedAt = performance.now();
  await until('an empty queue', async () => (await queueLength(db)) === 0, { withinMs: DRAINED_WITHIN_MS });
  const perSecond = (deliveries * 1_000) / (performance.now() - startedAt);
  const cpuPerDelivery = (cpuMs(...pids) - cpuBefore) / deliveries;
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from webhooks.attempts join webhooks.deliveries on deliveries.id = delivery_id
     where webhook_id = any($1) and outcome = 'delivered'`,
    [webhookIds],
  );
  const recorded = Number(rows[0]!.count);
  const received = (await endpoints.received()).deliveries;
  if (recorded < deliveries || received < deliveries)
    throw new Error(`of ${deliveries} deliveries, ${recorded} are recorded as delivered and ${received} were received`);
  return { perSecond, cpuMs: cpuPerDelivery };
};

/** Copies a webhook in the gateway's tables, with its secret, each with a copy of its merchant. Ids are numbered from
 *  `from` + 1. Resolves with the ids. */
const copyWebhook = async (db: pg.Pool, original: string, url: string, from: number): Promise<string[]> => {
  const { rows } = await db.query<{ id: string }>(
    `with number as (select lpad(n::text, 26, '0') as suffix from generate_series($3::int, $4::int) as n),
     merchant as (
       insert into gateway.merchants
       select (jsonb_populate_record(m, jsonb_build_object('id', 'mer_' || suffix, 'external_reference_id', suffix))).*
       from number, gateway.merchants m join gateway.webhooks w on m.id = w.merchant_id where w.id = $1
     )
     insert into gateway.webhooks
     select (jsonb_populate_record(w, jsonb_build_object(
       'id', 'whk_' || suffix, 'merchant_id', 'mer_' || suffix, 'url', $2 || '/' || suffix))).*
     from number, gateway.webhooks w where w.id = $1
     returning id`,
    [original, url, from + 1, from + WEBHOOKS],
  );
  return rows.map(({ id }) => id);
};

/** Inserts due, unleased deliveries of `events` events to each webhook, in one transaction. Each event has its own
 *  order. The ids of events and orders start with `idPrefix`. */
const insertBacklog = async (
  db: pg.Pool,
  { events, webhookIds, idPrefix }: { events: number; webhookIds: readonly string[]; idPrefix: string },
): Promise<void> => {
  const client = await db.connect();
  const body = JSON.stringify({ event: 'order:updated', data: { text: 'x'.repeat(1_500) } });
  const named = `select $1 || lpad(n::text, 20, '0') as name from generate_series(1, $2::int) as n`;
  const addressed = `(${named}) as e cross join unnest($3::text[]) as w (id)`;
  const day = "(now() at time zone 'utc')::date";
  const deliveryId = "'dlv_' || upper(substr(md5(e.name || w.id), 1, 26))";
  try {
    await client.query('begin');
    await client.query(
      `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body)
       select ${day}, 'evt_' || name, 'mer_bench', 'ord_' || name, 'order:updated', now(), '1', $3 from (${named}) as e`,
      [idPrefix, events, body],
    );
    await client.query(
      `insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, created_at)
       select ${day}, 'evt_' || e.name, w.id, ${deliveryId}, 'order:updated', now() from ${addressed}`,
      [idPrefix, events, webhookIds],
    );
    await client.query(
      `insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, due_at)
       select ${day}, 'evt_' || e.name, w.id, ${deliveryId}, 'ord_' || e.name, $4::int, now() from ${addressed}`,
      [idPrefix, events, webhookIds, body.length],
    );
    await client.query('commit');
  } finally {
    client.release();
  }
};

const queueLength = async (db: pg.Pool): Promise<number> => {
  const { rows } = await db.query<{ count: string }>('select count(*) from webhooks.queue');
  return Number(rows[0]!.count);
};
