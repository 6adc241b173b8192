import type { Queryable } from '@cpg/postgres';
import type { ToldEvent } from '../delivery/payload.ts';
import { eventColumns, lockOrders } from './queue.ts';
import { lift, queueAnew, type Repeated } from './requeue.ts';

export interface Retelling {
  readonly webhookId: string;
  readonly events: readonly ToldEvent[];
  /** Events of earlier days have their rows under `today`, for those of their own day go too soon. */
  readonly lastingFrom: string;
  readonly today: string;
  readonly now: Date;
}

export const rowDayOf = ({ day }: ToldEvent, { lastingFrom, today }: Pick<Retelling, 'lastingFrom' | 'today'>) =>
  day >= lastingFrom ? day : today;

/** Stores what a replay was told, where it is not there, and queues it for a webhook in this order, as `requeue` does. Returns how many
 *  were queued. Their partitions must be there. */
export const retell = async (db: Queryable, retelling: Retelling): Promise<number> => {
  const { webhookId, events, today, now } = retelling;
  if (events.length === 0) return 0;
  await lockOrders(db, [...new Set(events.map(({ orderId }) => orderId))]);
  await store(db, retelling);
  const repeated = events.map((event): Repeated => ({
    day: rowDayOf(event, retelling),
    id: event.id,
    type: event.type,
    order_id: event.orderId,
    bytes: event.body.length,
    is_test: false,
  }));
  const free = await lift(db, webhookId, repeated);
  const old = new Set(events.filter((event) => rowDayOf(event, retelling) !== event.day).map(({ id }) => id));
  const moving = free.filter(({ id }) => old.has(id)).map(({ id }) => id);
  await bringTo(db, today, webhookId, moving);
  await queueAnew(db, { webhookId, events: free, now });
  return free.length;
};

const store = (db: Queryable, { events, ...days }: Retelling) =>
  db.query(
    `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body)
     select * from unnest($1::date[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[])
       as e (day, id, merchant_id, order_id, type, occurred_at, sequence, body)
     where not exists (select from webhooks.forgotten_orders f where f.order_id = e.order_id)
     on conflict do nothing`,
    [events.map((event) => rowDayOf(event, days)), ...eventColumns(events)],
  );

/** Moves the deliveries of events to a day, with their attempts: an event has one delivery per webhook, whenever it is told. */
const bringTo = async (db: Queryable, day: string, webhookId: string, eventIds: readonly string[]): Promise<void> => {
  if (eventIds.length === 0) return;
  const { rows } = await db.query<{ id: string; day: string }>(
    `select distinct on (event_id) id, day::text from webhooks.deliveries d
     where event_id = any($1) and webhook_id = $2 and day <> $3 and not exists (
       select from webhooks.deliveries here where here.event_id = d.event_id and here.webhook_id = $2 and here.day = $3)
     order by event_id, day desc`,
    [eventIds, webhookId, day],
  );
  if (rows.length === 0) return;
  const from = [day, rows.map((row) => row.id), rows.map((row) => row.day)];
  const moved = 'from unnest($2::text[], $3::date[]) as w (id, day)';
  await db.query(
    `update webhooks.deliveries d set day = $1 ${moved} where d.webhook_id = $4 and d.id = w.id and d.day = w.day`,
    [...from, webhookId],
  );
  await db.query(`update webhooks.attempts a set day = $1 ${moved} where a.delivery_id = w.id and a.day = w.day`, from);
};
