import type { Replay, ReplayStatus, Webhook } from '@cpg/contracts';
import type { Queryable } from '@cpg/platform/postgres';
import type { ListQuery } from '../lists/list-query.ts';
import { mapPage, type Page, selectPage } from '../lists/page.ts';

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

const COLUMNS = 'from_at, to_at, event_types, events, deferred, reached_order, finished_at, canceled_at';

/** One page of a webhook's replays, from the dispatcher. */
export const listReplays = async (db: Queryable, webhook: ReplayedWebhook, list: ListQuery): Promise<Page<Replay>> => {
  const page = await selectPage<ReplayRow>(db, {
    table: 'webhooks.api_replays',
    columns: COLUMNS.split(', '),
    owner: ['webhook_id', webhook.id],
    filters: [],
    list,
  });
  return mapPage(page, (row) => resourceOf(row, webhook));
};

export const replayById = async (db: Queryable, webhook: ReplayedWebhook, id: string): Promise<Replay | null> => {
  const { rows } = await db.query<ReplayRow>(
    `select id, created_at, ${COLUMNS} from webhooks.api_replays where webhook_id = $1 and id = $2`,
    [webhook.id, id],
  );
  return rows[0] ? resourceOf(rows[0], webhook) : null;
};

const resourceOf = (row: ReplayRow, webhook: ReplayedWebhook): Replay => ({
  id: row.id,
  webhook_id: webhook.id,
  status: statusOf(row, webhook),
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

const statusOf = ({ finished_at, canceled_at }: ReplayRow, { is_enabled }: ReplayedWebhook): ReplayStatus => {
  if (canceled_at) return 'canceled';
  if (finished_at) return 'done';
  return is_enabled ? 'running' : 'paused';
};
