import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { groupBy } from '@cpg/platform';
import { partitionOf } from './partitions.ts';
import { queueRowsLockedWhere } from './queue-table.ts';

/** Removes the unleased work of a disabled or deleted webhook and marks its deliveries as failed, at most `limit` of
 *  them. An unfinished replay of the webhook queues those in its range again. `withTests` includes test deliveries,
 *  which a disabled webhook still receives. Does nothing if the database has the webhook enabled: the caller's view of
 *  it was outdated. Returns how many deliveries failed. */
export const failDeliveriesOfWebhook = (
  pool: Pool,
  { webhookId, withTests, limit, now }: { webhookId: string; withTests: boolean; limit: number; now: Date },
): Promise<number> =>
  transaction(pool, async (db) => {
    const replayId = await lockRunningReplay(db, webhookId);
    const { rows } = await db.query<{ day: string; event_id: string }>(
      `delete from webhooks.queue where position in (
         select position from webhooks.queue where webhook_id = $1 and leased_by is null and ($2 or not is_test)
           and not exists (select from gateway.webhook_endpoints w where w.id = $1 and w.is_enabled)
         order by webhook_id, due_at limit $3 for update skip locked
       ) returning day::text, event_id`,
      [webhookId, withTests, limit],
    );
    for (const [day, removed] of byDay(rows)) {
      await db.query(
        `update webhooks.deliveries set status = 'failed', next_attempt_at = null, updated_at = $3
         where day = $4 and webhook_id = $1 and event_id in (
           select event_id from webhooks.deliveries where day = $4 and webhook_id = $1 and event_id = any($2)
           order by event_id for update)`,
        [webhookId, removed.map((row) => row.event_id), now, day],
      );
    }
    if (replayId !== null) await deferFailedOrders(db, replayId, rows);
    return rows.length;
  });

/** Deletes the stored bodies, pending deliveries and queued work of orders, which the transaction has locked. Later
 *  events of these orders are not stored. */
export const deleteOrders = async (db: Queryable, orderIds: readonly string[], now: Date): Promise<void> => {
  await db.query(
    `insert into webhooks.forgotten_orders (order_id, forgotten_at) select id, $2 from unnest($1::text[]) as id
     on conflict do nothing`,
    [orderIds, now],
  );
  await db.query(`delete from ${queueRowsLockedWhere('order_id = any($1)')}`, [orderIds]);
  const { rows } = await db.query<{ day: string; id: string }>(
    'delete from webhooks.events where order_id = any($1) returning day::text, id',
    [orderIds],
  );
  for (const [day, events] of byDay(rows)) {
    const deliveries = `webhooks.${partitionOf('deliveries', day)}`;
    await db.query(
      `delete from ${deliveries} where (event_id, webhook_id) in (
         select event_id, webhook_id from ${deliveries} where event_id = any($1) and status = 'pending'
         order by event_id, webhook_id for update)`,
      [events.map(({ id }) => id)],
    );
  }
};

const byDay = <Row extends { readonly day: string }>(rows: readonly Row[]) =>
  [...groupBy(rows, ({ day }) => day)].sort(([a], [b]) => (a < b ? -1 : 1));

/** Locks the unfinished replay of a webhook, and returns its id. */
const lockRunningReplay = async (db: Queryable, webhookId: string): Promise<string | null> => {
  const { rows } = await db.query<{ id: string }>(
    'select id from webhooks.replays where webhook_id = $1 and finished_at is null for update',
    [webhookId],
  );
  return rows[0]?.id ?? null;
};

/** Defers the orders of failed events that are in the range of a replay, so that they are queued again. An order that
 *  is partly queued starts again. A step in flight loses its lease: it has read the replay before the change. */
const deferFailedOrders = (
  db: Queryable,
  replayId: string,
  failed: readonly { readonly day: string; readonly event_id: string }[],
) =>
  db.query(
    `with failed as (
       select distinct e.order_id from webhooks.events e
       join unnest($2::date[], $3::text[]) as f (day, id) on e.day = f.day and e.id = f.id
       join webhooks.replays r on r.id = $1
       where not e.is_test and e.occurred_at between r.from_at and r.to_at and e.type = any(r.event_types)
     )
     update webhooks.replays r set leased_by = null,
       deferred = r.deferred || array(
         select f.order_id from failed f
         where f.order_id <> all(r.deferred) and f.order_id is distinct from r.order_id order by f.order_id),
       order_place = case when exists (select from failed f where f.order_id = r.order_id) then null else r.order_place end
     where r.id = $1 and exists (select from failed)`,
    [replayId, failed.map(({ day }) => day), failed.map(({ event_id }) => event_id)],
  );
