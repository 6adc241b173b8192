import type { Queryable } from '@cpg/postgres';
import type { Repeated } from './requeue.ts';

export interface ReplayRequest {
  readonly id: string;
  readonly webhookId: string;
  readonly merchantId: string;
  readonly from: Date;
  readonly to: Date;
  readonly types: readonly string[];
  /** Events before it are no longer kept. */
  readonly keptSince: Date;
}

export interface ReplayRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly merchant_id: string;
  readonly from_at: Date;
  readonly to_at: Date;
  readonly event_types: string[];
  readonly events: number;
  readonly kept_since: Date;
  readonly reached_at: Date;
  readonly reached_sequence: string;
  readonly reached_id: string;
}

export interface ReplayTurn extends ReplayRow {
  /** Whether anything may be sent to the webhook. */
  readonly is_on: boolean;
}

/** Starts a replay, once per id. Null when another one of the webhook is not finished. */
export const startReplay = async (db: Queryable, request: ReplayRequest, now: Date): Promise<ReplayRow | null> => {
  const { id, webhookId, merchantId, from, to, types, keptSince } = request;
  await db.query(
    `insert into webhooks.replays
       (id, webhook_id, merchant_id, from_at, to_at, event_types, kept_since, reached_at, created_at, stepped_at, events)
     select $1, $2, $3, $4::timestamptz, $5::timestamptz, $6, $7::timestamptz, $4, $8, $8, (
       select count(*) from webhooks.events
       where merchant_id = $3 and occurred_at between greatest($4, $7) and $5 and type = any($6) and not is_test)
     on conflict do nothing`,
    [id, webhookId, merchantId, from, to, types, keptSince, now],
  );
  const { rows } = await db.query<ReplayRow>('select * from webhooks.replays where id = $1', [id]);
  return rows[0] ?? null;
};

/** Locks a replay that is not finished: the one named, or else that whose last turn is longest ago. Null when there is none that nobody
 *  else works on. */
export const takeTurn = async (db: Queryable, id: string | null, now: Date): Promise<ReplayTurn | null> => {
  const { rows } = await db.query<ReplayTurn>(
    `update webhooks.replays set stepped_at = $2 where id = (
       select id from webhooks.replays where finished_at is null and ($1::text is null or id = $1)
       order by stepped_at limit 1 for update skip locked
     ) returning *, exists (
       select from gateway.webhooks w where w.id = webhook_id and w.is_enabled and w.deleted_at is null
     ) as is_on`,
    [id, now],
  );
  return rows[0] ?? null;
};

/** The next events of a replay, in the order in which they happened. */
export const nextEvents = async (db: Queryable, replay: ReplayRow, limit: number) => {
  const { rows } = await db.query<Repeated & { occurred_at: Date; sequence: string }>(
    `select day::text, id, type, order_id, octet_length(body) as bytes, is_test, occurred_at, sequence
     from webhooks.events
     where merchant_id = $1 and type = any($2) and not is_test and occurred_at between greatest($3::timestamptz, $4::timestamptz) and $5::timestamptz
       and day between (greatest($3::timestamptz, $4::timestamptz) at time zone 'UTC')::date and ($5 at time zone 'UTC')::date
       and (occurred_at, length(sequence), sequence, id) > ($3, length($6::text), $6, $7)
     order by occurred_at, length(sequence), sequence, id limit $8`,
    [
      replay.merchant_id,
      replay.event_types,
      replay.reached_at,
      replay.kept_since,
      replay.to_at,
      replay.reached_sequence,
      replay.reached_id,
      limit,
    ],
  );
  return rows;
};

export const moveReplay = (db: Queryable, id: string, last: { occurred_at: Date; sequence: string; id: string }) =>
  db.query('update webhooks.replays set reached_at = $2, reached_sequence = $3, reached_id = $4 where id = $1', [
    id,
    last.occurred_at,
    last.sequence,
    last.id,
  ]);

export const finishReplay = (db: Queryable, id: string, now: Date) =>
  db.query('update webhooks.replays set finished_at = $2 where id = $1', [id, now]);

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
