import type { Queryable } from '@cpg/platform/postgres';
import type { RenderedEvent } from '../delivery/render.ts';

/** A delivery to store: one event for one webhook. */
export interface NewDelivery {
  readonly id: string;
  readonly event: RenderedEvent;
  readonly webhookId: string;
  /** Whether this instance has room to make the first attempt itself. */
  readonly lease: boolean;
}

export interface EnqueuedRow {
  readonly id: string;
  readonly position: string;
  readonly leased: boolean;
}

/** Values for the columns id, merchant_id, order_id, type, occurred_at, sequence, hash and body of `webhooks.events`. */
export const eventColumns = (events: readonly RenderedEvent[]): (string | null)[][] => [
  events.map(({ id }) => id),
  events.map(({ merchantId }) => merchantId),
  events.map(({ orderId }) => orderId),
  events.map(({ type }) => type),
  events.map(({ occurredMs }) => new Date(occurredMs).toISOString()),
  events.map(({ sequence }) => sequence),
  events.map(({ hash }) => hash),
  events.map(({ body }) => body.toString('utf8')),
];

/** Locks orders against other transactions that queue their events, until this transaction ends. So events of one order
 *  are queued in the order in which these transactions commit. */
export const lockOrders = (db: Queryable, orderIds: readonly string[]) =>
  db.query({ name: 'lock', text: 'select webhooks.lock_orders($1)', values: [orderIds] });

export interface Enqueued {
  /** The new deliveries. */
  readonly rows: EnqueuedRow[];
  /** Merchants whose webhooks differ from `versions`. Nothing of theirs was stored. */
  readonly outdatedMerchantIds: string[];
}

interface NewDeliveries {
  readonly events: readonly RenderedEvent[];
  readonly deliveries: readonly NewDelivery[];
  /** By merchant: the version of the webhooks for which the deliveries are. */
  readonly versions?: ReadonlyMap<string, string> | undefined;
  readonly holder: string;
  readonly now: Date;
}

/** Stores events and their deliveries, each once, under the locks of their orders. A row starts leased to `holder` if
 *  `lease` is set and all earlier first attempts of its ordering key are leased to `holder` too. Returns only new
 *  deliveries, and none of deleted orders. */
export const enqueue = async (db: Queryable, work: NewDeliveries): Promise<Enqueued> => {
  const { rows } = await db.query<EnqueuedRow & { outdated_merchant: string | null }>(enqueueStatement(work));
  return {
    rows: rows.filter(({ outdated_merchant: outdated }) => outdated === null),
    outdatedMerchantIds: rows.flatMap(({ outdated_merchant: outdated }) => outdated ?? []),
  };
};

const enqueueStatement = ({ events, deliveries, versions = new Map(), holder, now }: NewDeliveries) => ({
  ...ENQUEUE,
  values: [
    events.map(({ day }) => day),
    ...eventColumns(events),
    events.map(({ isTest }) => isTest),
    deliveries.map(({ event }) => event.day),
    deliveries.map(({ event }) => event.id),
    deliveries.map(({ webhookId }) => webhookId),
    deliveries.map(({ id }) => id),
    deliveries.map(({ event }) => event.type),
    deliveries.map(({ event }) => event.orderId),
    deliveries.map(({ event }) => event.body.length),
    deliveries.map(({ event }) => event.isTest),
    deliveries.map(({ lease }) => lease),
    deliveries.map(({ event }) => event.merchantId),
    now,
    holder,
    [...versions.keys()],
    [...versions.values()],
  ],
});

const ENQUEUE = {
  name: 'enqueue',
  text: `select id, position, leased, outdated_merchant
    from webhooks.ingest(${Array.from({ length: 24 }, (_, index) => `$${index + 1}`).join(', ')})`,
};
