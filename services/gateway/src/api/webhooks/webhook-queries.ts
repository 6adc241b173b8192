import type { UpdateWebhookDto, Webhook, WebhookEventType, WebhookFilter } from '@cpg/contracts';
import { type Pool, type Queryable, transaction } from '@cpg/platform/postgres';
import { type Change, changedFields, recordChange, recordIfChanged } from '../../audit/record-change.ts';
import { deleteResponsesOf } from '../../door/idempotency/deleted-resources.ts';
import type { ListQuery } from '../lists/list-query.ts';
import { mapPage, type Page, selectPage } from '../lists/page.ts';
import { lockMerchant } from '../merchants/merchant-queries.ts';

interface WebhookRow {
  readonly id: string;
  readonly merchant_id: string;
  readonly url: string;
  readonly events: WebhookEventType[];
  readonly label: string | null;
  readonly filter: WebhookFilter | null;
  readonly is_enabled: boolean;
  readonly disabled_reason: string | null;
  readonly created_at: Date;
  readonly updated_at: Date | null;
}

/** A webhook and its encrypted signing secret. */
export interface WebhookWithSecret {
  readonly webhook: Webhook;
  readonly secretBox: string;
}

export interface NewWebhook {
  readonly id: string;
  readonly merchantId: string;
  readonly url: string;
  readonly events: readonly WebhookEventType[];
  readonly label?: string | undefined;
  readonly filter?: WebhookFilter | undefined;
  readonly secretBox: string;
  readonly seed: string;
}

// Without `id` and `created_at`, which lists select themselves.
const COLUMNS = 'merchant_id, url, events, label, filter, is_enabled, disabled_reason, updated_at';
const RETURNED = `id, created_at, ${COLUMNS}, secret_box`;

/** Whether the merchant has fewer than `max` webhooks, or the same request has created the webhook `id` before. */
export const hasRoomForWebhook = async (
  db: Queryable,
  merchantId: string,
  id: string,
  max: number,
): Promise<boolean> => {
  const { rows } = await db.query<{ has_room: boolean }>(
    `select exists (select from gateway.webhooks where id = $2 and merchant_id = $1)
         or (select count(*) from gateway.webhooks where merchant_id = $1 and deleted_at is null) < $3 as has_room`,
    [merchantId, id, max],
  );
  return rows[0]!.has_room;
};

/** Creates a webhook, or returns the one that the same request created before; `deleted` if it was deleted since. Null
 *  when the merchant has `max` webhooks. Locks the merchant's row, so concurrent requests cannot exceed `max`. */
export const insertWebhook = (
  pool: Pool,
  webhook: NewWebhook,
  max: number,
  change: Change,
): Promise<WebhookWithSecret | 'deleted' | null> =>
  transaction(pool, async (db) => {
    const { id, merchantId, url, events, label, filter, secretBox, seed } = webhook;
    await lockMerchant(db, merchantId);
    const existing = await db.query<WebhookRow & { secret_box: string; deleted_at: Date | null }>(
      `select ${RETURNED}, deleted_at from gateway.webhooks where id = $1 and merchant_id = $2`,
      [id, merchantId],
    );
    const [known] = existing.rows;
    if (known) return known.deleted_at ? 'deleted' : withSecret(known);
    const { rows } = await db.query<WebhookRow & { secret_box: string }>(
      `insert into gateway.webhooks (id, merchant_id, url, events, secret_box, secret_seed, created_at, label, filter)
       select $1, $2, $3, $4, $5, $6, $7, $9, $10
        where (select count(*) from gateway.webhooks where merchant_id = $2 and deleted_at is null) < $8
       returning ${RETURNED}`,
      [id, merchantId, url, events, secretBox, seed, change.at, max, label ?? null, filter ?? null],
    );
    if (!rows[0]) return null;
    // Not its path, which may hold a secret.
    const shown = { origin: new URL(url).origin, events, label, filter };
    const changes = changedFields(null, shown, ['origin', 'events', 'label', 'filter']);
    await recordChange(db, { type: 'WebhookCreated', merchantId, subject: id, changes }, change);
    return withSecret(rows[0]);
  });

export const listWebhooks = async (db: Queryable, merchantId: string, list: ListQuery): Promise<Page<Webhook>> => {
  const page = await selectPage<WebhookRow>(db, {
    table: 'gateway.webhooks',
    columns: COLUMNS.split(', '),
    owner: ['merchant_id', merchantId],
    only: 'deleted_at is null',
    filters: [],
    list,
  });
  return mapPage(page, resourceOf);
};

export const webhookById = async (db: Queryable, merchantId: string, id: string): Promise<Webhook | null> => {
  const { rows } = await db.query<WebhookRow>(
    `select id, created_at, ${COLUMNS} from gateway.webhooks where id = $1 and merchant_id = $2 and deleted_at is null`,
    [id, merchantId],
  );
  return rows[0] ? resourceOf(rows[0]) : null;
};

/** How many webhooks of the merchant the service disabled. */
export const countDisabledWebhooks = async (db: Queryable, merchantId: string): Promise<number> => {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from gateway.webhooks
      where merchant_id = $1 and disabled_reason is not null and deleted_at is null`,
    [merchantId],
  );
  return rows[0]!.count;
};

/** The merchant of a webhook; null when the webhook does not exist or is deleted. */
export const merchantIdOfWebhook = async (db: Queryable, id: string): Promise<string | null> => {
  const { rows } = await db.query<{ merchant_id: string }>(
    'select merchant_id from gateway.webhooks where id = $1 and deleted_at is null',
    [id],
  );
  return rows[0]?.merchant_id ?? null;
};

/** Changes a webhook. Enabling it clears `disabled_reason`; null removes the label or the filter. */
export const updateWebhook = (
  pool: Pool,
  merchantId: string,
  id: string,
  update: UpdateWebhookDto,
  change: Change,
): Promise<Webhook | null> =>
  transaction(pool, async (db) => {
    const before = await lockedWebhook(db, merchantId, id);
    if (!before) return null;
    const after = await updateRow(db, id, update, change.at);
    const changes = changedFields<WebhookRow>(before, after, ['events', 'label', 'filter', 'is_enabled']);
    await recordIfChanged(db, { type: 'WebhookChanged', merchantId, subject: id, changes }, change);
    return resourceOf(after);
  });

/** A webhook that is locked until the transaction ends. */
const lockedWebhook = async (db: Queryable, merchantId: string, id: string): Promise<WebhookRow | null> => {
  const { rows } = await db.query<WebhookRow>(
    `select id, created_at, ${COLUMNS} from gateway.webhooks
      where id = $1 and merchant_id = $2 and deleted_at is null for update`,
    [id, merchantId],
  );
  return rows[0] ?? null;
};

const updateRow = async (
  db: Queryable,
  id: string,
  { events, label, filter, is_enabled }: UpdateWebhookDto,
  at: Date,
): Promise<WebhookRow> => {
  const { rows } = await db.query<WebhookRow>(
    `update gateway.webhooks
        set events = coalesce($2, events), is_enabled = coalesce($3, is_enabled), updated_at = $4,
            disabled_reason = case when $3 then null else disabled_reason end,
            label = case when $5 then $6 else label end, filter = case when $7 then $8 else filter end
      where id = $1
      returning id, created_at, ${COLUMNS}`,
    [
      ...[id, events ?? null, is_enabled ?? null, at],
      ...[label !== undefined, label ?? null, filter !== undefined, filter ?? null],
    ],
  );
  return rows[0]!;
};

export interface Rotation {
  readonly secretBox: string;
  readonly seed: string;
  /** Until then, deliveries are signed with the replaced secret too. */
  readonly overlapUntil: Date;
}

/** Replaces the secret. A repeat of the same request (same seed) does not replace it again. Each replaced secret keeps
 *  its own overlap; returns `too many secrets` and changes nothing while two replaced ones still sign. */
export const rotateWebhookSecret = (
  pool: Pool,
  merchantId: string,
  id: string,
  { secretBox, seed, overlapUntil }: Rotation,
  change: Change,
): Promise<WebhookWithSecret | 'too many secrets' | null> =>
  transaction(pool, async (db) => {
    const { rowCount } = await db.query(
      `update gateway.webhooks
          set older_secret_box = previous_secret_box, older_secret_until = previous_secret_until,
              previous_secret_box = secret_box, previous_secret_until = $6, secret_box = $3, secret_seed = $4, updated_at = $5
        where id = $1 and merchant_id = $2 and deleted_at is null and secret_seed <> $4
          and (older_secret_until is null or older_secret_until <= $5)`,
      [id, merchantId, secretBox, seed, change.at, overlapUntil],
    );
    const { rows } = await db.query<WebhookRow & { secret_box: string; secret_seed: string }>(
      `select ${RETURNED}, secret_seed from gateway.webhooks where id = $1 and merchant_id = $2 and deleted_at is null`,
      [id, merchantId],
    );
    const [row] = rows;
    if (!row) return null;
    if (rowCount === 1) await recordChange(db, { type: 'WebhookSecretRotated', merchantId, subject: id }, change);
    return row.secret_seed === seed ? withSecret(row) : 'too many secrets';
  });

/** Deletes a webhook with its secrets and the stored responses that show them. Returns false when the webhook does not
 *  exist, or was deleted by a request that got its answer. */
export const deleteWebhook = (pool: Pool, merchantId: string, id: string, change: Change): Promise<boolean> =>
  transaction(pool, async (db) => {
    const { rows } = await db.query<{ was_deleted: boolean }>(
      `with known as materialized (
         select id as known_id, deleted_at is not null as was_deleted from gateway.webhooks
          where id = $1 and merchant_id = $2 and (deleted_at is null or not deletion_answered) for update)
       update gateway.webhooks
          set deleted_at = coalesce(deleted_at, $3), updated_at = $3, is_enabled = false, deletion_answered = false,
              secret_box = '', previous_secret_box = null, older_secret_box = null
         from known where id = known_id
       returning was_deleted`,
      [id, merchantId, change.at],
    );
    await deleteResponsesOf(db, merchantId, id);
    if (rows[0]?.was_deleted === false)
      await recordChange(db, { type: 'WebhookDeleted', merchantId, subject: id }, change);
    return rows.length === 1;
  });

/** Called when the request that deleted the webhook gets its answer: from then on, a repeat is 404. Before, the client
 *  may not know of the deletion, so a repeat succeeds again. */
export const answerWebhookDeletion = async (db: Queryable, merchantId: string, id: string): Promise<void> => {
  await db.query(
    'update gateway.webhooks set deletion_answered = true where id = $1 and merchant_id = $2 and not deletion_answered',
    [id, merchantId],
  );
};

/** The columns with encrypted secrets. */
export const WEBHOOK_BOXES = ['secret_box', 'previous_secret_box', 'older_secret_box'] as const;

/** For each encryption key in use, one secret that it encrypted, so that a start can check that each key is configured.
 *  The second part of an encrypted secret names its key. */
export const boxOfEachKey = async (db: Queryable): Promise<string[]> => {
  const { rows } = await db.query<{ box: string }>(
    `select min(box) as box from gateway.webhooks, unnest(array[${WEBHOOK_BOXES.join(', ')}]) as box
      where deleted_at is null and box <> '' group by split_part(box, '.', 2)`,
  );
  return rows.map(({ box }) => box);
};

const resourceOf = (row: WebhookRow): Webhook => ({
  id: row.id,
  merchant_id: row.merchant_id,
  url: row.url,
  events: row.events,
  ...(row.label !== null && { label: row.label }),
  ...(row.filter !== null && { filter: row.filter }),
  is_enabled: row.is_enabled,
  ...(row.disabled_reason !== null && { disabled_reason: row.disabled_reason }),
  created_at: row.created_at.toISOString(),
  ...(row.updated_at && { updated_at: row.updated_at.toISOString() }),
});

const withSecret = (row: WebhookRow & { secret_box: string }): WebhookWithSecret => ({
  webhook: resourceOf(row),
  secretBox: row.secret_box,
});
