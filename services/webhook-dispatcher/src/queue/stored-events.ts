import { groupBy } from '@cpg/platform';
import type { Queryable } from '@cpg/platform/postgres';
import type { StoredEvent } from '../delivery/delivery.ts';
import type { RenderedEvent } from '../delivery/render.ts';

/** Values for the columns id, merchant_id, order_id, type, occurred_at, sequence and body of `webhooks.events`. */
export const eventColumns = (events: readonly RenderedEvent[]): string[][] => [
  events.map(({ id }) => id),
  events.map(({ merchantId }) => merchantId),
  events.map(({ orderId }) => orderId),
  events.map(({ type }) => type),
  events.map(({ occurredMs }) => new Date(occurredMs).toISOString()),
  events.map(({ sequence }) => sequence),
  events.map(({ body }) => body.toString('utf8')),
];

interface StoredEventKey {
  readonly day: string;
  readonly event_id: string;
}

/** The stored events of claimed rows, by id. Events whose partition retention has dropped are missing. */
export const loadEvents = async (db: Queryable, rows: readonly StoredEventKey[]): Promise<Map<string, StoredEvent>> => {
  const events = new Map<string, StoredEvent>();
  for (const [day, group] of groupBy(rows, (row) => row.day)) {
    const found = await db.query<{ id: string; occurred_at: Date; sequence: string; body: string }>(
      'select id, occurred_at, sequence, body from webhooks.events where day = $1 and id = any($2)',
      [day, [...new Set(group.map((row) => row.event_id))]],
    );
    for (const { id, occurred_at, sequence, body } of found.rows) {
      events.set(id, { id, sequence, occurredMs: occurred_at.getTime(), body: Buffer.from(body) });
    }
  }
  return events;
};
