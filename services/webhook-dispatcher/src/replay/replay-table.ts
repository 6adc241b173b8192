import type { WebhookFilter } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import { LONGEST_LEASE } from '../queue/leases.ts';

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
  /** How many events were queued so far. */
  readonly events: number;
  /** `ReplayCursor.afterOrder`. */
  readonly reached_order: string | null;
  /** `ReplayCursor.within`: `id` and `afterEvent`. */
  readonly order_id: string | null;
  readonly order_place: string | null;
  /** Failed steps since the last successful one. */
  readonly failures: number;
  /** Orders whose events could not be read, to be tried again after all others. */
  readonly deferred: string[];
}

/** How far a replay is. */
interface ReplayCursor {
  /** Place of the last finished order in the history of the merchant; null before the first. */
  readonly afterOrder: string | null;
  /** The order that is queued in part, which is the next one or a deferred one, and the place of its last queued event.
   *  Null if there is none. */
  readonly within: { readonly id: string; readonly afterEvent: string } | null;
}

export const cursorOf = ({ reached_order, order_id, order_place }: ReplayRow): ReplayCursor => ({
  afterOrder: reached_order,
  within: order_id === null ? null : { id: order_id, afterEvent: order_place! },
});

export interface ReplayProgress {
  /** Where the next step starts. */
  readonly cursor: ReplayCursor;
  readonly deferred: readonly string[];
}

/** A replay leased to an instance, for one step. */
export interface ClaimedReplay extends ReplayRow {
  readonly leased_by: string;
  readonly is_webhook_deleted: boolean;
  /** The filter that the webhook has now. */
  readonly filter: WebhookFilter | null;
}

/** Creates a replay, once per id. Null when the webhook has another unfinished replay. */
export const createReplay = async (db: Queryable, request: ReplayRequest, now: Date): Promise<ReplayRow | null> => {
  const { id, webhookId, merchantId, from, to, types } = request;
  await db.query(
    `insert into webhooks.replays (id, webhook_id, merchant_id, from_at, to_at, event_types, created_at, stepped_at)
     values ($1, $2, $3, $4, $5, $6, $7, $7) on conflict do nothing`,
    [id, webhookId, merchantId, from, to, types, now],
  );
  const { rows } = await db.query<ReplayRow>('select * from webhooks.replays where id = $1', [id]);
  return rows[0] ?? null;
};

/** Cancels a replay unless it has ended. A step in flight loses its lease, so it queues nothing. False when the webhook
 *  has no such replay. */
export const cancelReplay = async (
  db: Queryable,
  { id, webhookId, now }: { id: string; webhookId: string; now: Date },
): Promise<boolean> => {
  await db.query(
    `update webhooks.replays set leased_by = null, finished_at = $3, canceled_at = $3
     where id = $1 and webhook_id = $2 and finished_at is null`,
    [id, webhookId, now],
  );
  const { rowCount } = await db.query('select from webhooks.replays where id = $1 and webhook_id = $2', [
    id,
    webhookId,
  ]);
  return rowCount === 1;
};

/** No step waits longer. A later time is one from before the clock was set back. */
export const MAX_RETRY_MS = 15_000;

/** Leases the unfinished replay whose last step is longest ago, unless it is postponed, its webhook is disabled, or
 *  another live instance leases it. An instance runs one step at a time, so what it still has leased is from a failed
 *  step. */
export const claimReplay = async (db: Queryable, holder: string, now: Date): Promise<ClaimedReplay | null> => {
  const { rows } = await db.query<ClaimedReplay>(
    `update webhooks.replays set stepped_at = $2, leased_by = $1 where id = (
       select id from webhooks.replays
       where finished_at is null and (retry_at <= $2 or retry_at > $2::timestamptz + $3 * interval '1 ms')
         and not exists (
           select from gateway.webhook_endpoints w where w.id = webhook_id and not w.is_enabled)
         and (leased_by is null or leased_by = $1 or not exists (
           select from webhooks.instances i where i.id = leased_by and i.expires_at > now()
             and i.expires_at <= now() + interval '${LONGEST_LEASE}'))
       order by stepped_at <= $2, stepped_at limit 1 for update skip locked
     ) returning *, not exists (
       select from gateway.webhook_endpoints w where w.id = webhook_id
     ) as is_webhook_deleted, (
       select filter from gateway.webhook_endpoints w where w.id = webhook_id
     ) as filter`,
    [holder, now, MAX_RETRY_MS],
  );
  return rows[0] ?? null;
};

/** Ends a step and saves the new cursor. False when another instance has taken the replay over, or the webhook was
 *  disabled or deleted meanwhile: then the step must queue nothing. */
export const advanceReplay = async (
  db: Queryable,
  { id, leased_by }: ClaimedReplay,
  { cursor: { afterOrder, within }, deferred }: ReplayProgress,
  finishedAt: Date | null,
): Promise<boolean> => {
  const { rowCount } = await db.query(
    `update webhooks.replays set leased_by = null, failures = 0, reached_order = $3, order_id = $4, order_place = $5, deferred = $6,
       finished_at = $7
     where id = $1 and leased_by = $2 and exists (
       select from gateway.webhook_endpoints w where w.id = webhook_id and w.is_enabled)`,
    [id, leased_by, afterOrder, within?.id, within?.afterEvent, deferred, finishedAt],
  );
  return rowCount === 1;
};

export const addQueuedEvents = (db: Queryable, { id }: ClaimedReplay, events: number) =>
  db.query('update webhooks.replays set events = events + $2 where id = $1', [id, events]);

/** Ends a step without progress: the next one starts at `until` or later. */
export const postponeReplay = (
  db: Queryable,
  { id, leased_by }: ClaimedReplay,
  { until, failures }: { until: Date; failures: number },
) =>
  db.query(
    'update webhooks.replays set leased_by = null, retry_at = $3, failures = $4 where id = $1 and leased_by = $2',
    [id, leased_by, until, failures],
  );

/** Counts a webhook's unleased rows of work, up to `max`. */
export const countUnleased = async (db: Queryable, webhookId: string, max: number): Promise<number> => {
  const { rows } = await db.query<{ count: string }>(
    `select count(*) from (
       select from webhooks.queue where webhook_id = $1 and leased_by is null limit $2
     ) as unleased`,
    [webhookId, max],
  );
  return Number(rows[0]!.count);
};
