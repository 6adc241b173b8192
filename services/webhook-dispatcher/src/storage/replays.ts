import type { Queryable } from '@cpg/postgres';

export interface ReplayRequest {
  readonly id: string;
  readonly webhookId: string;
  readonly merchantId: string;
  readonly from: Date;
  readonly to: Date;
  readonly types: readonly string[];
}

export interface ReplayRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly merchant_id: string;
  readonly from_at: Date;
  readonly to_at: Date;
  readonly event_types: string[];
  /** How many were queued so far. */
  readonly events: number;
  readonly reached_order: string | null;
  readonly order_id: string | null;
  readonly order_place: string | null;
  /** Tries that came to nothing since the last one that did. */
  readonly failures: number;
}

/** How far a replay is: past an order, and within the one after it past a place. */
export interface Reached {
  readonly order: string | null;
  readonly within: { readonly id: string; readonly place: string } | null;
}

export interface ReplayTurn extends ReplayRow {
  /** The instance whose turn it is. */
  readonly leased_by: string;
  /** Whether anything may be sent to the webhook. */
  readonly is_on: boolean;
}

/** Starts a replay, once per id. Null when another one of the webhook is not finished. */
export const startReplay = async (db: Queryable, request: ReplayRequest, now: Date): Promise<ReplayRow | null> => {
  const { id, webhookId, merchantId, from, to, types } = request;
  await db.query(
    `insert into webhooks.replays (id, webhook_id, merchant_id, from_at, to_at, event_types, created_at, stepped_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7) on conflict do nothing`,
    [id, webhookId, merchantId, from, to, types, now],
  );
  const { rows } = await db.query<ReplayRow>('select * from webhooks.replays where id = $1', [id]);
  return rows[0] ?? null;
};

/** Leases the replay whose last turn is longest ago, of those that are not finished, not set aside, and in the hands of no other instance
 *  that is alive. An instance takes one turn at a time: what it still holds is from a turn that broke. */
export const takeTurn = async (db: Queryable, holder: string, now: Date): Promise<ReplayTurn | null> => {
  const { rows } = await db.query<ReplayTurn>(
    `update webhooks.replays set stepped_at = $2, leased_by = $1 where id = (
       select id from webhooks.replays
       where finished_at is null and retry_at <= $2 and (leased_by is null or leased_by = $1 or not exists (
         select from webhooks.instances i where i.id = leased_by and i.expires_at > now()))
       order by stepped_at limit 1 for update skip locked
     ) returning *, exists (
       select from gateway.webhooks w where w.id = webhook_id and w.is_enabled and w.deleted_at is null
     ) as is_on`,
    [holder, now],
  );
  return rows[0] ?? null;
};

/** Ends a turn: how far the replay is now. False when another instance has taken it over: then nothing may come of the turn. */
export const moveReplay = async (
  db: Queryable,
  { id, leased_by }: ReplayTurn,
  { order, within }: Reached,
  finishedAt: Date | null,
): Promise<boolean> => {
  const { rowCount } = await db.query(
    `update webhooks.replays set leased_by = null, failures = 0, reached_order = $3, order_id = $4, order_place = $5, finished_at = $6
     where id = $1 and leased_by = $2`,
    [id, leased_by, order, within?.id, within?.place, finishedAt],
  );
  return rowCount === 1;
};

export const countQueued = (db: Queryable, { id }: ReplayTurn, events: number) =>
  db.query('update webhooks.replays set events = events + $2 where id = $1', [id, events]);

/** Ends a turn that came to nothing: the next one is not before `until`. */
export const setAside = (
  db: Queryable,
  { id, leased_by }: ReplayTurn,
  { until, failures }: { until: Date; failures: number },
) =>
  db.query(
    'update webhooks.replays set leased_by = null, retry_at = $3, failures = $4 where id = $1 and leased_by = $2',
    [id, leased_by, until, failures],
  );

export const finishReplay = (db: Queryable, { id, leased_by }: ReplayTurn, now: Date) =>
  db.query('update webhooks.replays set leased_by = null, finished_at = $3 where id = $1 and leased_by = $2', [
    id,
    leased_by,
    now,
  ]);

/** How many of a webhook's rows are in nobody's hands, counted up to `atMost`. */
export const waitingOf = async (db: Queryable, webhookId: string, atMost: number): Promise<number> => {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from (
       select from webhooks.queue where webhook_id = $1 and leased_by is null limit $2
     ) as waiting`,
    [webhookId, atMost],
  );
  return Number(rows[0]!.count);
};
