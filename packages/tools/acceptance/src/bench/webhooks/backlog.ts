import type pg from 'pg';
import { until } from '../../harness/until.ts';
import { DRAINED_WITHIN_MS } from './bench-stack.ts';

/** Copies a webhook in the gateway's tables `count` times, with its secret, each with a copy of its merchant. Ids
 *  are numbered from `from` + 1. */
export const copyWebhook = async (
  db: pg.Pool,
  original: string,
  { count, url, from = 0 }: { count: number; url: string; from?: number },
): Promise<{ id: string; merchantId: string }[]> => {
  const { rows } = await db.query<{ id: string; merchant_id: string }>(
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
     returning id, merchant_id`,
    [original, url, from + 1, from + count],
  );
  return rows.map(({ id, merchant_id }) => ({ id, merchantId: merchant_id }));
};

/** Inserts due, unleased deliveries of `events` events to each webhook, in one transaction. Each event has its own
 *  order. The ids of events and orders start with `idPrefix`. */
export const insertBacklog = async (
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

export const queueLength = async (db: pg.Pool): Promise<number> => {
  const { rows } = await db.query<{ count: string }>('select count(*) from webhooks.queue');
  return Number(rows[0]!.count);
};

export const waitUntilDrained = (db: pg.Pool): Promise<unknown> =>
  until('an empty queue', async () => (await queueLength(db)) === 0, { withinMs: DRAINED_WITHIN_MS });
