import type { Queryable } from '@cpg/platform/postgres';
import type { Result } from '../delivery/delivery.ts';
import { groupBy } from '@cpg/platform';
import { partitionOf } from './partitions.ts';
import { queueRowsLockedWhere } from './queue-table.ts';

/** Records results: the attempt, the state of the delivery, its row in the queue, and whether the webhook fails. One
 *  statement and one commit per day of events. Idempotent. Deliveries whose partition retention has dropped only leave
 *  the queue. */
export const recordResults = async (
  db: Queryable,
  { results, holder, now }: { results: readonly Result[]; holder: string; now: Date },
): Promise<void> => {
  for (const [day, group] of groupBy(results, ({ delivery }) => delivery.day)) {
    const positions = group.map(({ delivery }) => delivery.position);
    const recording = {
      name: `record ${day}`,
      text: recordInto(day),
      values: [
        day,
        holder,
        now,
        positions,
        group.map(({ delivery }) => delivery.event.id),
        group.map(({ delivery }) => delivery.webhookId),
        group.map(({ delivery }) => delivery.id),
        group.map(({ delivery, attempt }) => delivery.attempts + (attempt ? 1 : 0)),
        group.map(({ status }) => status),
        group.map(({ nextAt }) => nextAt),
        group.map(({ attempt }) => attempt?.outcome),
        group.map(({ attempt }) => attempt?.startedAt),
        group.map(({ attempt }) => attempt?.durationMs),
        group.map(({ attempt }) => attempt?.statusCode),
        group.map(({ attempt }) => attempt?.error),
        group.map(({ attempt }) => attempt?.response),
        group.map(({ delivery }) => delivery.attemptsBefore ?? 0),
      ],
    };
    await db.query(recording).catch(async (error: { code?: string }) => {
      if (error.code !== UNDEFINED_TABLE) throw error;
      await db.query(`delete from ${queueRowsLockedWhere('position = any($1::bigint[])')}`, [positions]);
    });
  }
};

const UNDEFINED_TABLE = '42P01';

// Names the partition: the planner has no statistics of a new one, and would misjudge a condition on the day.
// A delivery is found by either of its indexes: without its id, one of them reads the webhook's deliveries of the day.
// `failing` counts only attempts that are recorded now, so a repeat counts nothing twice. A success resets its row.
// The locks follow ADR 32. `locked` takes all those of the queue, by position, before the first row of it is changed;
// the counts make each step wait for the one before, because PostgreSQL runs steps in any order otherwise. `is not
// distinct from` has no index: the one on `leased_by` would read everything that the instance has leased. A position
// alone is not enough: after a crash of PostgreSQL, another delivery can have that of a lost one. A late result of an
// instance whose lease expired changes neither a row leased to another instance nor a delivered one.
const recordInto = (day: string): string => `
  with result as (
    select * from unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[], $10::timestamptz[],
      $11::text[], $12::timestamptz[], $13::int[], $14::int[], $15::text[], $16::text[], $17::int[])
      as r (position, event_id, webhook_id, delivery_id, made, status, next_at,
        outcome, started_at, duration_ms, status_code, error, response, made_before)
  ), locked as materialized (
    select q.position, r.status, r.made, r.next_at from result r join webhooks.queue q on q.position = r.position
    where q.delivery_id = r.delivery_id and (r.status <> 'pending' or q.leased_by is not distinct from $2)
    order by q.position for update of q
  ), ended as (
    delete from webhooks.queue q using locked l where q.position = l.position and l.status <> 'pending' returning 1
  ), retried as (
    update webhooks.queue q set attempts = l.made, due_at = l.next_at, leased_by = null from locked l
    where q.position = l.position and l.status = 'pending' returning 1
  ), updated as (
    update webhooks.${partitionOf('deliveries', day)} d set status = r.status, attempts = r.made_before + r.made, next_attempt_at = r.next_at, updated_at = $3,
      last_status_code = case when r.outcome is null then d.last_status_code else r.status_code end
    from (select * from result order by event_id, webhook_id) as r
    where d.event_id = r.event_id and d.webhook_id = r.webhook_id and d.id = r.delivery_id and d.status = 'pending'
      and (select count(*) from ended) + (select count(*) from retried) >= 0
    returning 1
  ), recorded as (
    insert into webhooks.${partitionOf('attempts', day)} (day, delivery_id, number, started_at, duration_ms, outcome, status_code, error, response)
    select $1, delivery_id, made_before + made, started_at, duration_ms, outcome, status_code, error, response from result
    where outcome is not null and (select count(*) from updated) >= 0
    order by delivery_id, started_at
    on conflict do nothing
    returning delivery_id, started_at
  ), fresh as (
    select r.webhook_id, r.started_at, r.status = 'delivered' as is_success from result r
    where ((r.delivery_id, r.started_at) in (select delivery_id, started_at from recorded)) is true
  )
  insert into webhooks.failing as f (webhook_id, since, attempts, last_at)
  select webhook_id, min(started_at), count(*), max(started_at) from fresh
  group by webhook_id having not bool_or(is_success)
  union all
  select webhook_id, 'infinity', 0, '-infinity' from (select distinct webhook_id from fresh where is_success) recovered
  where (select true from webhooks.failing known where known.webhook_id = recovered.webhook_id and known.since < 'infinity')
  order by webhook_id
  on conflict (webhook_id) do update set
    since = case when excluded.attempts = 0 then 'infinity' else least(f.since, excluded.since) end,
    attempts = case when excluded.attempts = 0 then 0 else f.attempts + excluded.attempts end,
    failed_ms = case when excluded.attempts = 0 then 0 else f.failed_ms end,
    last_at = greatest(f.last_at, excluded.last_at)`;
