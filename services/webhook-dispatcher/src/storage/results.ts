import type { Queryable } from '@cpg/postgres';
import type { Result } from '../delivery/delivery.ts';
import { groupBy } from '../group-by.ts';
import { partitionOf } from './partitions.ts';

/** Records what became of deliveries: the attempt, the delivery's state, its row in the queue, and which webhooks fail. One statement
 *  and one commit per day of events. Recording the same results again changes nothing. What is past its retention only leaves the queue. */
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
      await db.query('delete from webhooks.queue where position = any($1::bigint[])', [positions]);
    });
  }
};

const UNDEFINED_TABLE = '42P01';

// The partition goes by its own name: of one that is new the planner has no statistics, and a condition on the day would mislead it.
// A result that comes late, from an instance that had lost its lease, changes neither what another holds nor what is delivered already.
const recordInto = (day: string): string => `
  with result as (
    select * from unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[], $10::timestamptz[],
      $11::text[], $12::timestamptz[], $13::int[], $14::int[], $15::text[], $16::text[], $17::int[])
      as r (position, event_id, webhook_id, delivery_id, made, status, next_at,
        outcome, started_at, duration_ms, status_code, error, response, before)
  ), ended as (
    delete from webhooks.queue q using result r where q.position = r.position and r.status <> 'pending'
  ), waiting as (
    update webhooks.queue q set attempts = r.made, due_at = r.next_at, leased_by = null from result r
    where q.position = r.position and r.status = 'pending' and q.leased_by = $2
  ), told as (
    update webhooks.${partitionOf('deliveries', day)} d set status = r.status, attempts = r.before + r.made, next_attempt_at = r.next_at, updated_at = $3 from result r
    where d.event_id = r.event_id and d.webhook_id = r.webhook_id and d.status = 'pending'
  ), recovered as (
    delete from webhooks.failing f using result r where f.webhook_id = r.webhook_id and r.status = 'delivered'
  ), failed as (
    insert into webhooks.failing (webhook_id, since)
    select webhook_id, min(started_at) from result where outcome is not null
    group by webhook_id having bool_and(status <> 'delivered') order by webhook_id
    on conflict do nothing
  )
  insert into webhooks.${partitionOf('attempts', day)} (day, delivery_id, number, started_at, duration_ms, outcome, status_code, error, response)
  select $1, delivery_id, before + made, started_at, duration_ms, outcome, status_code, error, response from result where outcome is not null
  on conflict do nothing`;
