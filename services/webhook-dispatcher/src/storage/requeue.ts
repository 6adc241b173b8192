import type { Queryable } from '@cpg/postgres';
import { newId } from '@cpg/runtime';
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

/** Queues stored events for a webhook once more, in this order: a delivery that ended starts anew with its first attempt, one that waits for
 *  a retry too, and an event that has none gets one. What is in an instance's hands, or of an order deleted meanwhile, is left alone. */
export const requeue = async (
  db: Queryable,
  { webhookId, events, now }: { webhookId: string; events: readonly Repeated[]; now: Date },
): Promise<void> => {
  await lockOrders(db, [...new Set(events.map(({ order_id }) => order_id))]);
  await db.query(
    `with wanted as materialized (
       select w.* from unnest($3::date[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bool[], $9::text[])
         with ordinality as w (day, event_id, event_type, order_id, bytes, is_test, id, turn)
       where exists (select from webhooks.events e where e.id = w.event_id and e.day = w.day)
         and not exists (
           select from webhooks.queue q where q.order_id = w.order_id and q.webhook_id = $1 and q.event_id = w.event_id
             and q.leased_by is not null)
     ), lifted as (
       delete from webhooks.queue q using wanted w
       where q.order_id = w.order_id and q.webhook_id = $1 and q.event_id = w.event_id and q.leased_by is null
       returning q.event_id
     ), anew as (
       insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, next_attempt_at, created_at)
       select day, event_id, $1, id, event_type, $2, $2 from wanted order by event_id
       on conflict (event_id, webhook_id, day) do update set status = 'pending', next_attempt_at = $2, updated_at = $2
         where deliveries.status <> 'pending' or deliveries.event_id in (select event_id from lifted)
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
