import type { Pool } from '@cpg/platform/postgres';
import { claim, type ClaimRequest, type QueueRow } from './claim.ts';
import { failDeliveriesOfWebhook } from './deletions.ts';
import { loadEvents } from './stored-events.ts';
import type { Directory } from '../webhooks/directory.ts';
import type { Delivery, StoredEvent } from '../delivery/delivery.ts';

export interface ClaimSources {
  readonly pool: Pool;
  readonly webhooks: Directory;
  readonly now: () => Date;
}

const ROWS_PER_STATEMENT = 1_000;

/** The requests whose webhooks may be sent to. Fails what is queued for disabled and deleted webhooks. */
export const sendableRequests = async (
  requests: readonly ClaimRequest[],
  { pool, webhooks, now }: ClaimSources,
): Promise<ClaimRequest[]> => {
  await webhooks.load(requests.map(({ webhookId }) => webhookId));
  // A webhook that was just enabled must not lose its new deliveries: read it again before anything fails.
  const disabled = requests.filter(({ webhookId }) => !webhooks.get(webhookId)?.isEnabled);
  await webhooks.load(
    disabled.map(({ webhookId }) => webhookId),
    0,
  );
  const sendable: ClaimRequest[] = [];
  for (const request of requests) {
    const { webhookId } = request;
    const webhook = webhooks.get(webhookId);
    const isDeleted = webhook === null;
    const failed = webhook?.isEnabled
      ? 0
      : await failDeliveriesOfWebhook(pool, { webhookId, withTests: isDeleted, limit: ROWS_PER_STATEMENT, now: now() });
    // A disabled webhook may still have test deliveries.
    if (!isDeleted && failed < ROWS_PER_STATEMENT) sendable.push(request);
  }
  return sendable;
};

/** Leases deliveries to `holder`, with their events. `bytes` bounds the size of their bodies. */
export const leaseDeliveries = async (
  requests: readonly ClaimRequest[],
  { pool, holder, bytes, now }: Pick<ClaimSources, 'pool' | 'now'> & { holder: string; bytes: number },
): Promise<Delivery[]> => {
  const rows = await claim(pool, { requests, bytes, holder, now: now() });
  const events = rows.length > 0 ? await loadEvents(pool, rows) : new Map<string, StoredEvent>();
  return rows.map((row) => deliveryOf(row, events.get(row.event_id) ?? withoutBody(row)));
};

const deliveryOf = (row: QueueRow, event: StoredEvent): Delivery => ({
  position: row.position,
  id: row.delivery_id,
  day: row.day,
  webhookId: row.webhook_id,
  orderId: row.order_id,
  attempts: row.attempts,
  attemptsBefore: row.attempts_before,
  isTest: row.is_test,
  event,
});

const withoutBody = (row: QueueRow): StoredEvent => ({
  id: row.event_id,
  occurredMs: 0,
  sequence: '0',
  body: Buffer.alloc(0),
});
