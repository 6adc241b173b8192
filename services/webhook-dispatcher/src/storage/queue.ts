import { type Pool, type Queryable, transaction } from '@cpg/postgres';
import type { StoredEvent } from '../delivery/delivery.ts';
import type { ToldEvent } from '../delivery/payload.ts';
import { groupBy } from '../group-by.ts';
import { partitionOf } from './partitions.ts';

/** A row of the queue, as it is claimed. */
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

/** One event for one webhook, before it has a row. */
export interface Addressed {
  readonly id: string;
  readonly event: ToldEvent;
  readonly webhookId: string;
  /** Whether this instance has room to make the first attempt itself. */
  readonly lease: boolean;
}

export interface Enqueued {
  readonly id: string;
  readonly position: string;
  readonly leased: boolean;
}

/** Takes turns with whoever takes in events of the same orders, until the transaction ends: the order in which they commit is the order
 *  in which they are told. */
export const lockOrders = (db: Queryable, orderIds: readonly string[]) =>
  db.query({ name: 'lock', text: 'select webhooks.lock_orders($1)', values: [orderIds] });

/** Values for `webhooks.events`, a column each: id, merchant_id, order_id, type, occurred_at, sequence, body. */
export const eventColumns = (events: readonly ToldEvent[]): string[][] => [
  events.map(({ id }) => id),
  events.map(({ merchantId }) => merchantId),
  events.map(({ orderId }) => orderId),
  events.map(({ type }) => type),
  events.map(({ occurredMs }) => new Date(occurredMs).toISOString()),
  events.map(({ sequence }) => sequence),
  events.map(({ body }) => body.toString('utf8')),
];

/** Stores events and their deliveries, each one once, under the locks of their orders. A row is born leased to `holder`, unless the first
 *  attempt of an earlier event of its lane is in other hands. What was there already, and what belongs to a forgotten order, is not
 *  returned. Null, and nothing is stored, when the webhooks of a merchant are not as `versions` has them any more. */
export const enqueue = async (
  db: Queryable,
  {
    events,
    addressed,
    versions = new Map(),
    holder,
    now,
  }: {
    events: readonly ToldEvent[];
    addressed: readonly Addressed[];
    versions?: ReadonlyMap<string, string> | undefined;
    holder: string;
    now: Date;
  },
): Promise<Enqueued[] | null> => {
  const { rows } = await db.query<Enqueued | { id: null }>({
    name: 'take in',
    text: `select id, position, leased from webhooks.take_in(
      $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
    values: [
      events.map(({ day }) => day),
      ...eventColumns(events),
      events.map(({ isTest }) => isTest),
      addressed.map(({ event }) => event.day),
      addressed.map(({ event }) => event.id),
      addressed.map(({ webhookId }) => webhookId),
      addressed.map(({ id }) => id),
      addressed.map(({ event }) => event.type),
      addressed.map(({ event }) => event.orderId),
      addressed.map(({ event }) => event.body.length),
      addressed.map(({ event }) => event.isTest),
      addressed.map(({ lease }) => lease),
      now,
      holder,
      [...versions.keys()],
      [...versions.values()],
    ],
  });
  return rows.some(({ id }) => id === null) ? null : (rows as Enqueued[]);
};

/** Webhooks that have work nobody holds, after `after` in the order of their ids, each with its earliest due time. One look at the index
 *  per webhook, however much work it has. */
export const waitingWebhooks = async (
  db: Queryable,
  { after, limit }: { after: string; limit: number },
): Promise<{ webhookId: string; dueAt: Date }[]> => {
  const { rows } = await db.query<{ webhook_id: string; due_at: Date }>({
    name: 'look',
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

/** What of the queue one claim takes for one webhook, at most. */
export interface Turn {
  readonly webhookId: string;
  readonly room: number;
}

/** Leases due rows to `holder`, for each webhook those due longest. A first attempt is claimed only when those before it in its lane
 *  are, too, or are its holder's already: what holds a lane up is looked for once per lane. `bytes` bounds the bodies of all of them together, but for the last one. */
export const claim = async (
  db: Queryable,
  { turns, bytes, holder, now }: { turns: readonly Turn[]; bytes: number; holder: string; now: Date },
): Promise<QueueRow[]> => {
  const { rows } = await db.query<QueueRow>({
    name: 'claim',
    text: `with candidate as materialized (
       select due.* from unnest($1::text[], $2::int[]) as turn (webhook_id, room)
       cross join lateral (
         select q.position, q.webhook_id, q.order_id, q.attempts, q.bytes from webhooks.queue q
         where q.webhook_id = turn.webhook_id and q.leased_by is null and q.due_at <= $3
         order by q.due_at, q.position limit turn.room for update skip locked
       ) as due
     ), lane as (
       select c.*, case when attempts = 0 and row_number() over (partition by order_id, webhook_id, attempts order by position) = 1 then (
         select earlier.position from webhooks.queue earlier
         where earlier.order_id = c.order_id and earlier.webhook_id = c.webhook_id and earlier.attempts = 0
           and earlier.leased_by is distinct from $4 and earlier.position not in (select position from candidate)
         order by earlier.position limit 1
       ) end as held_up
       from candidate c
     ), claimable as (
       select position, sum(bytes) over (order by position) - bytes as before
       from (select *, min(held_up) over (partition by order_id, webhook_id) as held_up_from from lane) as known
       where attempts > 0 or held_up_from is null or position < held_up_from
     )
     update webhooks.queue q set leased_by = $4 from claimable
     where q.position = claimable.position and claimable.before < $5
     returning q.position, q.day::text, q.event_id, q.webhook_id, q.delivery_id, q.order_id, q.attempts, q.attempts_before, q.is_test`,
    values: [turns.map(({ webhookId }) => webhookId), turns.map(({ room }) => room), now, holder, bytes],
  });
  return rows.sort((a, b) => (BigInt(a.position) < BigInt(b.position) ? -1 : 1));
};

/** Gives back what `holder` leased: these, or all but these. */
export const release = (db: Queryable, holder: string, positions: readonly string[]) =>
  db.query('update webhooks.queue set leased_by = null where position = any($1::bigint[]) and leased_by = $2', [
    positions,
    holder,
  ]);

export const releaseAllBut = (db: Queryable, holder: string, positions: readonly string[]) =>
  db.query('update webhooks.queue set leased_by = null where leased_by = $2 and position <> all($1::bigint[])', [
    positions,
    holder,
  ]);

/** Ends what is queued for a webhook that nothing may be sent to; tests only when it is gone itself. Returns how many, at most `limit`. None
 *  of one that was enabled meanwhile: what was queued since then is to be sent. */
export const dropOfWebhook = (
  pool: Pool,
  { webhookId, withTests, limit, now }: { webhookId: string; withTests: boolean; limit: number; now: Date },
): Promise<number> =>
  transaction(pool, async (db) => {
    const { rows } = await db.query<{ day: string; event_id: string }>(
      `delete from webhooks.queue where position in (
         select position from webhooks.queue where webhook_id = $1 and leased_by is null and ($2 or not is_test)
           and not exists (select from gateway.webhooks w where w.id = $1 and w.is_enabled and w.deleted_at is null)
         order by webhook_id, due_at limit $3 for update skip locked
       ) returning day::text, event_id`,
      [webhookId, withTests, limit],
    );
    for (const [day, dropped] of groupBy(rows, (row) => row.day)) {
      await db.query(
        `update webhooks.deliveries set status = 'failed', next_attempt_at = null, updated_at = $3
         where day = $4 and webhook_id = $1 and event_id = any($2)`,
        [webhookId, dropped.map((row) => row.event_id), now, day],
      );
    }
    return rows.length;
  });

/** Forgets orders: what is queued of them, its deliveries and the stored bodies. */
export const forgetOrders = async (db: Queryable, orderIds: readonly string[], now: Date): Promise<void> => {
  await db.query(
    `insert into webhooks.forgotten_orders (order_id, forgotten_at) select id, $2 from unnest($1::text[]) as id
     on conflict do nothing`,
    [orderIds, now],
  );
  await db.query('delete from webhooks.queue where order_id = any($1)', [orderIds]);
  const { rows } = await db.query<{ day: string; id: string }>(
    'delete from webhooks.events where order_id = any($1) returning day::text, id',
    [orderIds],
  );
  for (const [day, events] of groupBy(rows, (row) => row.day)) {
    const deliveries = partitionOf('deliveries', day);
    await db.query(`delete from webhooks.${deliveries} where event_id = any($1) and status = 'pending'`, [
      events.map(({ id }) => id),
    ]);
  }
};

/** The stored events of claimed rows, by id. Those whose body is no longer kept are missing: a partition goes whatever waits of its day. */
export const eventsOf = async (db: Queryable, rows: readonly QueueRow[]): Promise<Map<string, StoredEvent>> => {
  const events = new Map<string, StoredEvent>();
  for (const [day, group] of groupBy(rows, (row) => row.day)) {
    const found = await db.query<{ id: string; occurred_at: Date; sequence: string; body: string }>(
      'select id, occurred_at, sequence, body from webhooks.events where day = $1 and id = any($2)',
      [day, [...new Set(group.map((row) => row.event_id))]],
    );
    for (const { id, occurred_at, sequence, body } of found.rows) {
      events.set(id, { id, sequence, occurredMs: occurred_at.getTime(), body: Buffer.from(body) });
    }
  }
  return events;
};

/** How much is due and in nobody's hands, and since when. */
export const dueWork = async (db: Queryable, now: Date): Promise<{ due: number; oldestDueAt: Date | null }> => {
  const { rows } = await db.query<{ due: string; oldest: Date | null }>(
    'select count(*) as due, min(due_at) as oldest from webhooks.queue where leased_by is null and due_at <= $1',
    [now],
  );
  return { due: Number(rows[0]!.due), oldestDueAt: rows[0]!.oldest };
};
