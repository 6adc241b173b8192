import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryWithAttempts,
  invalidRequest,
  type Replay,
  type ReplayStatus,
  type Webhook,
  type WebhookPayload,
} from '@cpg/contracts';
import { hideInternalAddresses } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import { decodeTime, encodeTime } from 'ulid';
import type { Place } from '../lists/cursor.ts';
import type { ListQuery } from '../lists/list-query.ts';
import { mapPage, type Page, pageOf, selectPage, startOf } from '../lists/page.ts';

interface DeliveryRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: Delivery['event_type'];
  readonly status: Delivery['status'];
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly updated_at: Date | null;
  readonly last_status_code: number | null;
}

interface AttemptRow {
  readonly number: number;
  readonly outcome: DeliveryAttempt['outcome'];
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly started_at_us: string;
}

export interface DeliveryFilters {
  readonly status?: readonly string[] | undefined;
  readonly event_type?: string | undefined;
  readonly last_status_code?: number | undefined;
}

/** Which attempts of a delivery: the first ones, or those after a cursor. */
export interface AttemptsQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** One page of a webhook's deliveries, from the dispatcher. */
export const listDeliveries = (
  db: Queryable,
  webhookId: string,
  query: ListQuery & DeliveryFilters,
): Promise<Page<Delivery>> => selectDeliveries(db, ['webhook_id', webhookId], 'array[$1]', query);

/** One page of the deliveries of all webhooks that a merchant has. */
export const listDeliveriesOfMerchant = (
  db: Queryable,
  merchantId: string,
  query: ListQuery & DeliveryFilters,
): Promise<Page<Delivery>> => selectDeliveries(db, ['merchant_id', merchantId], WEBHOOKS_OF_MERCHANT, query);

/** One page of the deliveries of an order and its payments, to all webhooks that its merchant has. They are few: all
 *  are read. */
export const listDeliveriesOfOrder = async (
  db: Queryable,
  { merchantId, orderId }: { readonly merchantId: string; readonly orderId: string },
  list: ListQuery,
): Promise<Page<Delivery>> => {
  const { from_date: from, to_date: to, page, limit, sort } = list;
  const query = { table: 'webhooks.api_order_deliveries', owner: ['order_id', orderId], filters: [], list } as const;
  const after = startOf(query);
  const { rows } = await db.query<DeliveryRow & { readonly total: number }>({
    name: `list deliveries of an order ${sort}`,
    text: `with found as materialized (
             select * from webhooks.api_order_deliveries
              where order_id = $2 and webhook_id = any(${WEBHOOKS_OF_MERCHANT})
                and id >= coalesce($3, '') and ($4::text is null or id < $4))
           select (select count(*)::int from found) as total, listed.* from (select) as one left join lateral (
             select * from found where $5::text is null or id ${sort === 'asc' ? '>' : '<'} $5
              order by id ${sort} limit $6 offset $7) as listed on true
           order by listed.id ${sort}`,
    values: [
      ...[merchantId, orderId, from && firstIdAt(from.getTime()), to && firstIdAt(to.getTime() + 1)],
      ...[after?.id, limit + 1, (page - 1) * limit],
    ],
  });
  const found = rows.filter(({ id }) => id !== null);
  return mapPage(pageOf(query, rows[0]!.total, found, placeOf), resourceOf);
};

const WEBHOOKS_OF_MERCHANT = 'array(select id from gateway.webhooks where merchant_id = $1 and deleted_at is null)';

/** `webhooks` selects the ids of the webhooks by `$1`. */
const selectDeliveries = async (
  db: Queryable,
  owner: readonly [column: string, id: string],
  webhooks: string,
  { status, event_type, last_status_code, ...list }: ListQuery & DeliveryFilters,
): Promise<Page<Delivery>> => {
  const { from_date: from, to_date: to } = list;
  const [fromId, toId] = [from && firstIdAt(from.getTime()), to && firstIdAt(to.getTime() + 1)];
  const query = {
    table: 'webhooks.api_deliveries',
    owner,
    filters: Object.entries({ status, event_type, last_status_code }),
    list,
  };
  const after = startOf(query);
  const { page, limit, sort } = list;
  const { rows } = await db.query<DeliveryRow & { readonly total: string }>({
    name: `list deliveries by ${owner[0]}`,
    text: `select total, (delivery).*
           from webhooks.list_deliveries(${webhooks}, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             with ordinality as listed (total, delivery, place)
           order by place`,
    values: [
      ...[owner[1], event_type, status, last_status_code, fromId, toId, after?.id],
      ...[sort === 'asc', (page - 1) * limit, limit + 1],
    ],
  });
  const found = rows.filter(({ id }) => id !== null);
  return mapPage(pageOf(query, Number(rows[0]!.total), found, placeOf), resourceOf);
};

/** A delivery with a page of its attempts, and with its payload until the dispatcher deletes that. Errors of attempts
 *  show no internal addresses, except the one in the URL of the webhook. */
export const deliveryById = async (
  db: Queryable,
  { id: webhookId, url }: Pick<Webhook, 'id' | 'url'>,
  id: string,
  { limit, cursor }: AttemptsQuery,
): Promise<DeliveryWithAttempts | null> => {
  const after = cursor === undefined ? null : attemptBefore(cursor);
  const { rows } = await db.query<DeliveryRow & { day: string; body: string | null }>(
    `select id, webhook_id, event_id, event_type, status, attempts, next_attempt_at, updated_at, last_status_code,
         day::text, body
       from webhooks.api_deliveries where webhook_id = $1 and id = $2`,
    [webhookId, id],
  );
  const [row] = rows;
  if (!row) return null;
  const attempts = await db.query<AttemptRow>({
    name: 'attempts of a delivery',
    text: `select number, outcome, started_at, duration_ms, status_code, error, response,
         (extract(epoch from started_at) * 1000000)::bigint::text as started_at_us
       from webhooks.api_attempts where delivery_id = $1 and day = $2
         and started_at > 'epoch'::timestamptz + coalesce($3::bigint, -1) * interval '1 microsecond'
       order by started_at limit $4`,
    values: [id, row.day, after, limit + 1],
  });
  const shown = attempts.rows.slice(0, limit);
  return {
    ...resourceOf(row),
    attempts: shown.map((attempt) => attemptOf(attempt, hostOf(url))),
    ...(attempts.rows.length > limit && { next_cursor: cursorAfter(shown.at(-1)!) }),
    ...(row.body !== null && { payload: JSON.parse(row.body) as WebhookPayload }),
  };
};

// An attempt is identified by its delivery and the microsecond of its start.
const cursorAfter = ({ started_at_us }: AttemptRow): string => Buffer.from(started_at_us).toString('base64url');

const attemptBefore = (cursor: string): string => {
  const startedAtUs = Buffer.from(cursor, 'base64url').toString();
  if (/^\d{1,17}$/.test(startedAtUs)) return startedAtUs;
  throw invalidRequest([{ path: 'cursor', message: 'must be the `next_cursor` of an earlier response' }]);
};

// A ULID starts with the time of its creation. Sort order, date filters and counts follow this time alone.
const createdMsOf = (id: string): number => decodeTime(id.slice(id.indexOf('_') + 1));

const placeOf = ({ id }: DeliveryRow): Place => ({ createdAtUs: `${createdMsOf(id)}000`, id });

const firstIdAt = (ms: number): string => `dlv_${encodeTime(Math.max(0, ms))}`;

const resourceOf = (row: DeliveryRow): Delivery => ({
  id: row.id,
  webhook_id: row.webhook_id,
  event_id: row.event_id,
  event_type: row.event_type,
  status: row.status,
  attempt_count: row.attempts,
  ...(row.last_status_code !== null && { last_status_code: row.last_status_code }),
  ...(row.next_attempt_at && { next_attempt_at: row.next_attempt_at.toISOString() }),
  created_at: new Date(createdMsOf(row.id)).toISOString(),
  ...(row.updated_at && { updated_at: row.updated_at.toISOString() }),
});

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

const attemptOf = (row: AttemptRow, knownHost: string): DeliveryAttempt => ({
  number: row.number,
  outcome: row.outcome,
  started_at: row.started_at.toISOString(),
  duration_ms: row.duration_ms,
  ...(row.status_code !== null && { status_code: row.status_code }),
  ...(row.error !== null && { error: hideInternalAddresses(row.error, knownHost) }),
  ...(row.response !== null && { response: row.response }),
});

interface ReplayRow {
  readonly id: string;
  readonly from_at: Date;
  readonly to_at: Date;
  readonly event_types: Replay['event_types'];
  readonly events: number;
  readonly deferred: string[];
  readonly reached_order: string | null;
  readonly created_at: Date;
  readonly finished_at: Date | null;
  readonly canceled_at: Date | null;
}

type ReplayedWebhook = Pick<Webhook, 'id' | 'is_enabled'>;

const REPLAY_COLUMNS = 'from_at, to_at, event_types, events, deferred, reached_order, finished_at, canceled_at';

/** One page of a webhook's replays, from the dispatcher. */
export const listReplays = async (db: Queryable, webhook: ReplayedWebhook, list: ListQuery): Promise<Page<Replay>> => {
  const page = await selectPage<ReplayRow>(db, {
    table: 'webhooks.api_replays',
    columns: REPLAY_COLUMNS.split(', '),
    owner: ['webhook_id', webhook.id],
    filters: [],
    list,
  });
  return mapPage(page, (row) => replayOf(row, webhook));
};

export const replayById = async (db: Queryable, webhook: ReplayedWebhook, id: string): Promise<Replay | null> => {
  const { rows } = await db.query<ReplayRow>(
    `select id, created_at, ${REPLAY_COLUMNS} from webhooks.api_replays where webhook_id = $1 and id = $2`,
    [webhook.id, id],
  );
  return rows[0] ? replayOf(rows[0], webhook) : null;
};

const replayOf = (row: ReplayRow, webhook: ReplayedWebhook): Replay => ({
  id: row.id,
  webhook_id: webhook.id,
  status: replayStatusOf(row, webhook),
  from_date: row.from_at.toISOString(),
  to_date: row.to_at.toISOString(),
  event_types: row.event_types,
  queued_events: row.events,
  deferred_orders: row.deferred.length,
  // A place starts with the time at which the order was created.
  ...(row.reached_order !== null && { reached_date: row.reached_order.split(' ')[0]! }),
  created_at: row.created_at.toISOString(),
  ...(row.finished_at && { ended_at: row.finished_at.toISOString() }),
});

const replayStatusOf = ({ finished_at, canceled_at }: ReplayRow, { is_enabled }: ReplayedWebhook): ReplayStatus => {
  if (canceled_at) return 'canceled';
  if (finished_at) return 'done';
  return is_enabled ? 'running' : 'paused';
};
