import { groupBy, type Logger } from '@cpg/platform';
import { createPool, type Pool, type Queryable } from '@cpg/platform/postgres';
import type { StoredEvent } from '../delivery/delivery.ts';

// All queries of this service must use an index. A new partition has no statistics yet, so the planner would sometimes
// choose a sequential scan of the whole partition. Planning a statement anew for each call, as PostgreSQL would decide,
// costs more than running it.
const SETTINGS = { enable_seqscan: 'off', plan_cache_mode: 'force_generic_plan' };

/** Opens the connection pool of the dispatcher. Its sessions avoid sequential scans, and plan a named statement
 *  once. */
export const openPool = (url: string, { max, log }: { max: number; log: Logger }): Pool =>
  createPool({ url, name: 'webhook-dispatcher', max, settings: SETTINGS, log });

/** `webhooks.queue where …` for a statement that changes the rows matching `condition`. They are locked by position: in
 *  the same order as by all other statements (ADR 32). */
export const queueRowsLockedWhere = (condition: string, set = ''): string =>
  `webhooks.queue ${set} where position in (
     select position from webhooks.queue where ${condition} order by position for update)`;

/** A claimed row of the queue. */
export interface QueueRow {
  readonly position: string;
  readonly day: string;
  readonly event_id: string;
  readonly webhook_id: string;
  readonly delivery_id: string;
  readonly order_id: string;
  readonly attempts: number;
  readonly attempts_before: number | null;
  readonly is_test: boolean;
}

/** How many deliveries to claim for a webhook at most. */
export interface ClaimRequest {
  readonly webhookId: string;
  readonly limit: number;
}

/** Webhooks that have unleased work, after `after` in the order of their ids, each with its earliest due time. Costs
 *  one index probe per webhook, however many rows it has. */
export const webhooksWithUnleasedWork = async (
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<{ webhookId: string; dueAt: Date }[]> => {
  const { rows } = await db.query<{ webhook_id: string; due_at: Date }>({
    name: 'due-webhooks',
    text: `with recursive waiting as (
       (select webhook_id, due_at from webhooks.queue where leased_by is null and webhook_id > $1
        order by webhook_id, due_at limit 1)
       union all
       select following.* from waiting cross join lateral (
         select q.webhook_id, q.due_at from webhooks.queue q where q.leased_by is null and q.webhook_id > waiting.webhook_id
         order by q.webhook_id, q.due_at limit 1
       ) as following
     )
     select * from waiting limit $2`,
    values: [after, limit],
  });
  return rows.map((row) => ({ webhookId: row.webhook_id, dueAt: row.due_at }));
};

/** Leases due rows to `holder`, the longest due first. `bytes` bounds the total size of the bodies, except for the last
 *  one. A first attempt is leased only if all earlier first attempts of its ordering key are leased to `holder`, before
 *  or by this claim. The query looks for the first one that blocks, once per ordering key. */
export const claim = async (
  db: Queryable,
  { requests, bytes, holder, now }: { requests: readonly ClaimRequest[]; bytes: number; holder: string; now: Date },
): Promise<QueueRow[]> => {
  const { rows } = await db.query<QueueRow>({
    name: 'claim',
    text: `with candidate as materialized (
       select due.* from unnest($1::text[], $2::int[]) as request (webhook_id, row_limit)
       cross join lateral (
         select q.position, q.webhook_id, q.order_id, q.attempts, q.bytes from webhooks.queue q
         where q.webhook_id = request.webhook_id and q.leased_by is null and q.due_at <= $3
         order by q.due_at, q.position limit request.row_limit for update skip locked
       ) as due
     ), checked as (
       select c.*, case when attempts = 0 and row_number() over (partition by order_id, webhook_id, attempts order by position) = 1 then (
         select earlier.position from webhooks.queue earlier
         where earlier.order_id = c.order_id and earlier.webhook_id = c.webhook_id and earlier.attempts = 0
           and earlier.leased_by is distinct from $4 and earlier.position not in (select position from candidate)
         order by earlier.position limit 1
       ) end as blocked_by
       from candidate c
     ), claimable as (
       select position, sum(bytes) over (order by position) - bytes as bytes_before
       from (select *, min(blocked_by) over (partition by order_id, webhook_id) as blocked_from from checked) as known
       where attempts > 0 or blocked_from is null or position < blocked_from
     )
     update webhooks.queue q set leased_by = $4 from claimable
     where q.position = claimable.position and claimable.bytes_before < $5
     returning q.position, q.day::text, q.event_id, q.webhook_id, q.delivery_id, q.order_id, q.attempts, q.attempts_before, q.is_test`,
    values: [requests.map(({ webhookId }) => webhookId), requests.map(({ limit }) => limit), now, holder, bytes],
  });
  return rows.sort((a, b) => (BigInt(a.position) < BigInt(b.position) ? -1 : 1));
};

type StoredRow = Pick<StoredEvent, 'id' | 'sequence' | 'hash'> & { readonly occurred_at: Date; readonly body: string };

/** The stored events of claimed rows, by id. Events whose partition retention has dropped are missing. */
export const loadEvents = async (db: Queryable, rows: readonly QueueRow[]): Promise<Map<string, StoredEvent>> => {
  const events = new Map<string, StoredEvent>();
  for (const [day, group] of groupBy(rows, (row) => row.day)) {
    const found = await db.query<StoredRow>(
      'select id, occurred_at, sequence, hash, body from webhooks.events where day = $1 and id = any($2)',
      [day, [...new Set(group.map((row) => row.event_id))]],
    );
    for (const { id, occurred_at, sequence, hash, body } of found.rows) {
      events.set(id, { id, sequence, hash, occurredMs: occurred_at.getTime(), body: Buffer.from(body) });
    }
  }
  return events;
};

/** Makes deliveries due that wait longer than their schedule lets them: their times are from before the clock was set
 *  back. `waits` are the longest waits in seconds after the first, second, ... attempt. Returns their number. */
export const pullForward = async (
  db: Queryable,
  { waits, now }: { waits: readonly number[]; now: Date },
): Promise<number> => {
  const { rowCount } = await db.query(
    `update ${queueRowsLockedWhere(
      `leased_by is null and due_at > $2::timestamptz + coalesce(($1::float8[])[attempts], 0) * interval '1 second'`,
      'set due_at = $2',
    )}`,
    [waits, now],
  );
  return rowCount ?? 0;
};

/** Releases the leases of `holder` on these rows. */
export const releaseLeases = (db: Queryable, holder: string, positions: readonly string[]) =>
  db.query(
    `update ${queueRowsLockedWhere('position = any($1::bigint[]) and leased_by = $2', 'set leased_by = null')}`,
    [positions, holder],
  );

/** Releases the leases of `holder` on all rows but these. */
export const releaseLeasesExcept = (db: Queryable, holder: string, positions: readonly string[]) =>
  db.query(
    `update ${queueRowsLockedWhere('leased_by = $2 and position <> all($1::bigint[])', 'set leased_by = null')}`,
    [positions, holder],
  );

/** Counts due, unleased deliveries; `oldestDueAt` is when the oldest of them became due. */
export const countDue = async (db: Queryable, now: Date): Promise<{ due: number; oldestDueAt: Date | null }> => {
  const { rows } = await db.query<{ due: string; oldest: Date | null }>(
    'select count(*) as due, min(due_at) as oldest from webhooks.queue where leased_by is null and due_at <= $1',
    [now],
  );
  return { due: Number(rows[0]!.due), oldestDueAt: rows[0]!.oldest };
};
