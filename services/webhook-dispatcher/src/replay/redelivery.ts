import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { groupBy, newId } from '@cpg/platform';
import { lockOrders } from '../ingest/enqueue.ts';
import { queueRowsLockedWhere } from '../queue/queue-table.ts';

export type Redelivery = 'queued' | 'unknown' | 'disabled' | 'expired';

/** Queues a delivery again under its own id. `expired`: its body is no longer stored. `disabled`: its webhook is
 *  disabled; test deliveries are sent to disabled webhooks too. */
export const redeliver = (
  pool: Pool,
  { webhookId, deliveryId, now }: { webhookId: string; deliveryId: string; now: Date },
): Promise<Redelivery> =>
  transaction(pool, async (db) => {
    const { rows } = await db.query<RepeatedEvent & { is_enabled: boolean }>(
      `select d.day::text, e.id, e.type, e.order_id, octet_length(e.body) as bytes, e.is_test, w.is_enabled
       from webhooks.deliveries d
       join gateway.webhook_endpoints w on w.id = d.webhook_id
       left join webhooks.events e on e.id = d.event_id and e.day = d.day
       where d.webhook_id = $1 and d.id = $2`,
      [webhookId, deliveryId],
    );
    const [found] = rows;
    if (!found) return 'unknown';
    if (found.id === null) return 'expired';
    if (!found.is_enabled && !found.is_test) return 'disabled';
    await enqueueRepeats(db, { webhookId, events: [found], now });
    return 'queued';
  });

/** The fields of a stored event that its row in the queue needs. */
export interface RepeatedEvent {
  /** The day of the partition that stores the event. */
  readonly day: string;
  readonly id: string;
  readonly type: string;
  readonly order_id: string;
  readonly bytes: number;
  readonly is_test: boolean;
}

interface Repeats {
  readonly webhookId: string;
  readonly events: readonly RepeatedEvent[];
  readonly now: Date;
}

/** Queues stored events for a webhook again, in this order. Deliveries that ended or wait for a retry restart their
 *  schedule; events without a delivery get one. Skips leased deliveries, which are being sent now, and events that are
 *  no longer stored, for example because their order was deleted. */
export const enqueueRepeats = async (db: Queryable, { webhookId, events, now }: Repeats): Promise<void> => {
  await lockOrders(db, [...new Set(events.map(({ order_id }) => order_id))]);
  await insertRepeats(db, { webhookId, events: await removeUnleased(db, webhookId, events), now });
};

/** Removes the unleased rows of these events from the queue. Returns the events that are stored and not leased. Nothing
 *  can lease them again while the caller holds the locks of their orders. */
export const removeUnleased = async (
  db: Queryable,
  webhookId: string,
  events: readonly RepeatedEvent[],
): Promise<readonly RepeatedEvent[]> => {
  const stored = new Set<string>();
  for (const [day, group] of groupBy(events, (event) => event.day)) {
    const { rows } = await db.query<{ id: string }>('select id from webhooks.events where day = $1 and id = any($2)', [
      day,
      group.map(({ id }) => id),
    ]);
    for (const { id } of rows) stored.add(id);
  }
  const wanted = events.filter(({ id }) => stored.has(id));
  const ofEvents = 'webhook_id = $1 and order_id = any($2) and event_id = any($3)';
  const values = [webhookId, [...new Set(wanted.map(({ order_id }) => order_id))], wanted.map(({ id }) => id)];
  await db.query(`delete from ${queueRowsLockedWhere(`${ofEvents} and leased_by is null`)}`, values);
  const remaining = await db.query<{ event_id: string }>(
    `select event_id from webhooks.queue where ${ofEvents}`,
    values,
  );
  const leased = new Set(remaining.rows.map(({ event_id }) => event_id));
  return wanted.filter(({ id }) => !leased.has(id));
};

/** Inserts a row into the queue for each of these events, and sets their deliveries to pending. Deliveries keep the
 *  number of their attempts; their schedule starts again. */
export const insertRepeats = async (db: Queryable, { webhookId, events, now }: Repeats): Promise<void> => {
  if (events.length === 0) return;
  await db.query(
    `with wanted as materialized (
       select * from unnest($3::date[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bool[], $9::text[])
         with ordinality as w (day, event_id, event_type, order_id, bytes, is_test, id, rank)
     ), delivery as (
       insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, next_attempt_at, created_at)
       select day, event_id, $1, id, event_type, $2, $2 from wanted order by day, event_id
       on conflict (event_id, webhook_id, day) do update set status = 'pending', next_attempt_at = $2, updated_at = $2
       returning event_id, id, attempts
     )
     insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, is_test, due_at, attempts_before)
     select w.day, w.event_id, $1, delivery.id, w.order_id, w.bytes, w.is_test, $2, delivery.attempts
     from wanted w join delivery using (event_id) order by w.rank`,
    [
      webhookId,
      now,
      events.map(({ day }) => day),
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ order_id }) => order_id),
      events.map(({ bytes }) => bytes),
      events.map(({ is_test }) => is_test),
      events.map(() => newId('delivery', now)),
    ],
  );
};
