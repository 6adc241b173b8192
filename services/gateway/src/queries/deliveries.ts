import type { Delivery, DeliveryAttempt, DeliveryWithAttempts, Webhook, WebhookPayload } from '@cpg/contracts';
import type { Queryable } from '@cpg/postgres';
import { hideInternalAddresses } from '@cpg/runtime';
import { encodeTime } from 'ulid';
import type { ListQuery } from '../list-query.ts';
import { mapPage, type Page, selectPage } from './page.ts';

interface DeliveryRow {
  readonly id: string;
  readonly webhook_id: string;
  readonly event_id: string;
  readonly event_type: Delivery['event_type'];
  readonly status: Delivery['status'];
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date | null;
}

interface AttemptRow {
  readonly number: number;
  readonly outcome: DeliveryAttempt['outcome'];
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

export interface DeliveryFilters {
  readonly status?: string | undefined;
  readonly event_type?: string | undefined;
}

// The time in an id can be this much later than `created_at`.
const MAX_ID_DELAY_MS = 3_600_000;

const COLUMNS = 'webhook_id, event_id, event_type, status, attempts, next_attempt_at, updated_at';

/** One page of a webhook's deliveries, from the dispatcher's tables. */
export const listDeliveries = async (
  db: Queryable,
  webhookId: string,
  { status, event_type, ...list }: ListQuery & DeliveryFilters,
): Promise<Page<Delivery>> => {
  const { from_date: from, to_date: to } = list;
  const page = await selectPage<DeliveryRow>(db, {
    table: 'webhooks.deliveries',
    columns: COLUMNS.split(', '),
    owner: ['webhook_id', webhookId],
    filters: Object.entries({ status, event_type }),
    ranges: [
      ['id >=', from && firstIdAt(from.getTime())],
      ['id <=', to && firstIdAt(to.getTime() + MAX_ID_DELAY_MS)],
    ],
    list,
    sortBy: ['id'],
  });
  return mapPage(page, resourceOf);
};

/** A delivery with its attempts, and with its payload until the dispatcher deletes that. Errors of attempts show no
 *  internal addresses, except the one in the URL of the webhook. */
export const deliveryById = async (
  db: Queryable,
  { id: webhookId, url }: Pick<Webhook, 'id' | 'url'>,
  id: string,
): Promise<DeliveryWithAttempts | null> => {
  const { rows } = await db.query<DeliveryRow & { day: string; body: string | null }>(
    `select d.id, d.created_at, ${COLUMNS.replaceAll(/\w+/g, 'd.$&')}, d.day::text, e.body
       from webhooks.deliveries d left join webhooks.events e on e.id = d.event_id and e.day = d.day
      where d.webhook_id = $1 and d.id = $2`,
    [webhookId, id],
  );
  const [row] = rows;
  if (!row) return null;
  const attempts = await db.query<AttemptRow>(
    `select number, outcome, started_at, duration_ms, status_code, error, response
       from webhooks.attempts where delivery_id = $1 and day = $2 order by started_at`,
    [id, row.day],
  );
  return {
    ...resourceOf(row),
    attempts: attempts.rows.map((attempt) => attemptOf(attempt, hostOf(url))),
    ...(row.body !== null && { payload: JSON.parse(row.body) as WebhookPayload }),
  };
};

// A ULID starts with its creation time, so the index on ids also serves date filters.
const firstIdAt = (ms: number): string => `dlv_${encodeTime(Math.max(0, ms))}`;

const resourceOf = (row: DeliveryRow): Delivery => ({
  id: row.id,
  webhook_id: row.webhook_id,
  event_id: row.event_id,
  event_type: row.event_type,
  status: row.status,
  attempt_count: row.attempts,
  ...(row.next_attempt_at && { next_attempt_at: row.next_attempt_at.toISOString() }),
  created_at: row.created_at.toISOString(),
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
