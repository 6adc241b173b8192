import { type Pool, transaction } from '@cpg/platform/postgres';
import { enqueueRepeats, type RepeatedEvent } from './repeats.ts';

export type Redelivery = 'queued' | 'unknown' | 'disabled' | 'expired';

/** Queues a delivery again under its own id. `expired`: its body is no longer stored. `disabled` never applies to test
 *  deliveries. */
export const redeliver = (
  pool: Pool,
  { webhookId, deliveryId, now }: { webhookId: string; deliveryId: string; now: Date },
): Promise<Redelivery> =>
  transaction(pool, async (db) => {
    const { rows } = await db.query<RepeatedEvent & { is_enabled: boolean }>(
      `select d.day::text, e.id, e.type, e.order_id, octet_length(e.body) as bytes, e.is_test, w.is_enabled
       from webhooks.deliveries d
       join gateway.webhook_endpoints w on w.id = d.webhook_id
       left join webhooks.events e on e.id = d.event_id and e.day = d.day
       where d.webhook_id = $1 and d.id = $2`,
      [webhookId, deliveryId],
    );
    const [found] = rows;
    if (!found) return 'unknown';
    if (found.id === null) return 'expired';
    if (!found.is_enabled && !found.is_test) return 'disabled';
    await enqueueRepeats(db, { webhookId, events: [found], now });
    return 'queued';
  });
