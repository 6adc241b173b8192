import type { Queryable } from '@cpg/platform/postgres';
import type { RenderedEvent } from '../delivery/render.ts';
import { eventColumns } from '../ingest/enqueue.ts';
import { lockOrders } from '../ingest/enqueue.ts';
import { insertRepeats, removeUnleased, type RepeatedEvent } from './redelivery.ts';

export interface ReplayedEvents {
  readonly webhookId: string;
  readonly events: readonly RenderedEvent[];
  /** Events of earlier days are stored in the partition of `today`: retention would drop their own partition too
   *  soon. */
  readonly lastingFrom: string;
  readonly today: string;
  readonly now: Date;
}

/** The day whose partition stores a replayed event. */
export const partitionDayOf = (
  { day }: RenderedEvent,
  { lastingFrom, today }: Pick<ReplayedEvents, 'lastingFrom' | 'today'>,
) => (day >= lastingFrom ? day : today);

/** Stores replayed events that are not stored, and queues all of them for a webhook again, in this order. Returns how
 *  many were queued: not those that are leased, nor those of deleted orders. The partitions must exist. */
export const enqueueReplayedEvents = async (db: Queryable, replayed: ReplayedEvents): Promise<number> => {
  const { webhookId, events, today, now } = replayed;
  if (events.length === 0) return 0;
  await lockOrders(db, [...new Set(events.map(({ orderId }) => orderId))]);
  await storeEvents(db, replayed);
  const repeats = events.map((event): RepeatedEvent => ({
    day: partitionDayOf(event, replayed),
    id: event.id,
    type: event.type,
    order_id: event.orderId,
    bytes: event.body.length,
    is_test: false,
  }));
  const unleased = await removeUnleased(db, webhookId, repeats);
  const old = new Set(events.filter((event) => partitionDayOf(event, replayed) !== event.day).map(({ id }) => id));
  const moving = unleased.filter(({ id }) => old.has(id)).map(({ id }) => id);
  const moved = await moveDeliveries(db, today, webhookId, moving);
  await insertRepeats(db, { webhookId, events: unleased, now });
  await moveAttempts(db, today, moved);
  return unleased.length;
};

const storeEvents = (db: Queryable, { events, ...days }: ReplayedEvents) =>
  db.query(
    `insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, hash, body)
     select * from unnest($1::date[], $2::text[], $3::text[], $4::text[], $5::text[], $6::timestamptz[], $7::text[], $8::text[], $9::text[])
       as e (day, id, merchant_id, order_id, type, occurred_at, sequence, hash, body)
     where not exists (select from webhooks.forgotten_orders f where f.order_id = e.order_id)
     on conflict do nothing`,
    [events.map((event) => partitionDayOf(event, days)), ...eventColumns(events)],
  );

interface MovedDelivery {
  readonly id: string;
  /** The day of its partition before. */
  readonly day: string;
}

/** Moves the deliveries of events to the partition of a day, so that an event keeps one delivery per webhook. */
const moveDeliveries = async (
  db: Queryable,
  day: string,
  webhookId: string,
  eventIds: readonly string[],
): Promise<readonly MovedDelivery[]> => {
  if (eventIds.length === 0) return [];
  const { rows } = await db.query<MovedDelivery>(
    `select id, day::text from (
       select distinct on (event_id) event_id, id, day from webhooks.deliveries d
       where event_id = any($1) and webhook_id = $2 and day <> $3 and not exists (
         select from webhooks.deliveries here where here.event_id = d.event_id and here.webhook_id = $2 and here.day = $3)
       order by event_id, day desc
     ) as latest order by latest.day, event_id`,
    [eventIds, webhookId, day],
  );
  if (rows.length > 0)
    await db.query(
      `update webhooks.deliveries d set day = $1 ${MOVED} where d.webhook_id = $4 and d.id = w.id and d.day = w.day`,
      [...movedTo(day, rows), webhookId],
    );
  return rows;
};

/** Moves the attempts of deliveries with them: after all changes of deliveries (ADR 32). */
const moveAttempts = async (db: Queryable, day: string, moved: readonly MovedDelivery[]): Promise<void> => {
  if (moved.length === 0) return;
  await db.query(
    `update webhooks.attempts a set day = $1 ${MOVED} where a.delivery_id = w.id and a.day = w.day`,
    movedTo(day, moved),
  );
};

const MOVED = 'from unnest($2::text[], $3::date[]) as w (id, day)';
const movedTo = (day: string, moved: readonly MovedDelivery[]) => [
  day,
  moved.map(({ id }) => id),
  moved.map((delivery) => delivery.day),
];
