import type { Queryable } from '@cpg/postgres';
import type { RenderedEvent } from '../delivery/render.ts';
import { eventColumns } from './events.ts';
import type { IngestNumber } from './ingest-numbers.ts';

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

/** Stores events and their deliveries, each once, under the locks of their orders. A row starts leased to `holder` if
 *  `lease` is set and all earlier first attempts of its ordering key are leased to `holder` too. Returns only new
 *  deliveries, and none of deleted orders. With a number, the commit does not wait for the disk. */
export const enqueue = async (
  db: Queryable,
  {
    events,
    deliveries,
    versions = new Map(),
    holder,
    number,
    now,
  }: {
    events: readonly RenderedEvent[];
    deliveries: readonly NewDelivery[];
    versions?: ReadonlyMap<string, string> | undefined;
    holder: string;
    number?: Pick<IngestNumber, 'number' | 'accepted'> | undefined;
    now: Date;
  },
): Promise<Enqueued> => {
  const { rows } = await db.query<EnqueuedRow & { outdated_merchant: string | null }>({
    ...(number ? ENQUEUE : ENQUEUE_DURABLY),
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
      ...(number ? [number.number, number.accepted] : []),
    ],
  });
  return {
    rows: rows.filter(({ outdated_merchant: outdated }) => outdated === null),
    outdatedMerchantIds: rows.flatMap(({ outdated_merchant: outdated }) => outdated ?? []),
  };
};

const INGEST = 'select id, position, leased, outdated_merchant from webhooks';
const COLUMNS = Array.from({ length: 23 }, (_, index) => `$${index + 1}`).join(', ');
const ENQUEUE_DURABLY = { name: 'enqueue durably', text: `${INGEST}.ingest(${COLUMNS})` };
const ENQUEUE = { name: 'enqueue', text: `${INGEST}.ingest_unflushed(${COLUMNS}, $24, $25)` };
