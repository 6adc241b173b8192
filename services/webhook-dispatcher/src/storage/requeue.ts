import type { Queryable } from '@cpg/postgres';
import { newId } from '@cpg/runtime';
import { groupBy } from '../group-by.ts';
import { lockOrders } from './queue.ts';

/** A stored event, as a row of work needs it. */
export interface Repeated {
  readonly day: string;
  readonly id: string;
  readonly type: string;
  readonly order_id: string;
  readonly bytes: number;
  readonly is_test: boolean;
}

interface Requeue {
  readonly webhookId: string;
  readonly events: readonly Repeated[];
  readonly now: Date;
}

/** Queues stored events for a webhook once more, in this order: a delivery that ended starts anew with its first attempt, one that waits for
 *  a retry too, and an event that has none gets one. What is in an instance's hands, or of an order deleted meanwhile, is left alone. */
export const requeue = async (db: Queryable, { webhookId, events, now }: Requeue): Promise<void> => {
  await lockOrders(db, [...new Set(events.map(({ order_id }) => order_id))]);
  await queueAnew(db, { webhookId, events: await lift(db, webhookId, events), now });
};

/** Takes what waits out of the queue. Returns the stored events that are in nobody's hands: while their orders are locked it stays so. */
export const lift = async (
  db: Queryable,
  webhookId: string,
  events: readonly Repeated[],
): Promise<readonly Repeated[]> => {
  const stored = new Set<string>();
  for (const [day, group] of groupBy(events, (event) => event.day)) {
    const { rows } = await db.query<{ id: string }>('select id from webhooks.events where day = $1 and id = any($2)', [
      day,
      group.map(({ id }) => id),
    ]);
    for (const { id } of rows) stored.add(id);
  }
  const wanted = events.filter(({ id }) => stored.has(id));
  const rows = 'webhooks.queue where webhook_id = $1 and order_id = any($2) and event_id = any($3)';
  const values = [webhookId, [...new Set(wanted.map(({ order_id }) => order_id))], wanted.map(({ id }) => id)];
  await db.query(`delete from ${rows} and leased_by is null`, values);
  const left = await db.query<{ event_id: string }>(`select event_id from ${rows}`, values);
  const held = new Set(left.rows.map(({ event_id }) => event_id));
  return wanted.filter(({ id }) => !held.has(id));
};

export const queueAnew = async (db: Queryable, { webhookId, events, now }: Requeue): Promise<void> => {
  if (events.length === 0) return;
  await db.query(
    `with wanted as materialized (
       select * from unnest($3::date[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bool[], $9::text[])
         with ordinality as w (day, event_id, event_type, order_id, bytes, is_test, id, turn)
     ), anew as (
       insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, next_attempt_at, created_at)
       select day, event_id, $1, id, event_type, $2, $2 from wanted order by event_id
       on conflict (event_id, webhook_id, day) do update set status = 'pending', next_attempt_at = $2, updated_at = $2
       returning event_id, id, attempts
     )
     insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, is_test, due_at, attempts_before)
     select w.day, w.event_id, $1, anew.id, w.order_id, w.bytes, w.is_test, $2, anew.attempts
     from wanted w join anew using (event_id) order by w.turn`,
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
