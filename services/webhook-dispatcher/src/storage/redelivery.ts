import { type Pool, transaction } from '@cpg/postgres';
import { type Repeated, requeue } from './requeue.ts';

export type Redelivery = 'queued' | 'unknown' | 'disabled' | 'expired';

/** Queues a delivery anew, under its own id. `expired` when its body is no longer kept. A sample goes to a disabled webhook too. */
export const redeliver = (
  pool: Pool,
  { webhookId, deliveryId, now }: { webhookId: string; deliveryId: string; now: Date },
): Promise<Redelivery> =>
  transaction(pool, async (db) => {
    const { rows } = await db.query<Repeated & { is_on: boolean }>(
      `select d.day::text, e.id, e.type, e.order_id, octet_length(e.body) as bytes, e.is_test, w.is_enabled as is_on
       from webhooks.deliveries d
       join gateway.webhooks w on w.id = d.webhook_id and w.deleted_at is null
       left join webhooks.events e on e.id = d.event_id and e.day = d.day
       where d.webhook_id = $1 and d.id = $2`,
      [webhookId, deliveryId],
    );
    const [found] = rows;
    if (!found) return 'unknown';
    if (found.id === null) return 'expired';
    if (!found.is_on && !found.is_test) return 'disabled';
    await requeue(db, { webhookId, events: [found], now });
    return 'queued';
  });
