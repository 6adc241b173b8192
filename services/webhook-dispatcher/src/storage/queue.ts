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

/** `webhooks.queue where …` for a statement that changes the rows matching `condition`. They are locked by position: in
 *  the same order as by all other statements (ADR 32). */
export const lockedQueue = (condition: string, set = ''): string =>
  `webhooks.queue ${set} where position in (
     select position from webhooks.queue where ${condition} order by position for update)`;

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
  readonly number?: Pick<IngestNumber, 'number' | 'accepted'> | undefined;
  readonly now: Date;
}

/** Stores events and their deliveries, each once, under the locks of their orders. A row starts leased to `holder` if
 *  `lease` is set and all earlier first attempts of its ordering key are leased to `holder` too. Returns only new
 *  deliveries, and none of deleted orders. With a number, the commit does not wait for the disk. */
export const enqueue = async (db: Queryable, work: NewDeliveries): Promise<Enqueued> => {
  const one = onlyDelivery(work);
  const { rows } = await db.query<EnqueuedRow & { outdated_merchant: string | null }>(
    one ? enqueueOne(one, work) : enqueueAll(work),
  );
  return {
    rows: rows.filter(({ outdated_merchant: outdated }) => outdated === null),
    outdatedMerchantIds: rows.flatMap(({ outdated_merchant: outdated }) => outdated ?? []),
  };
};

/** The delivery, if it is the only one.
 *  Null if webhooks of other merchants are to be compared: they may have a new one, which needs a delivery. */
const onlyDelivery = ({ events, deliveries, versions = new Map() }: NewDeliveries): NewDelivery | null => {
  const [delivery] = deliveries;
  if (!delivery || deliveries.length !== 1 || events.length !== 1) return null;
  return [...versions.keys()].every((merchantId) => merchantId === delivery.event.merchantId) ? delivery : null;
};

/** Most ingests have one event for one webhook. They take less time than with arrays. */
const enqueueOne = (
  { id, event, webhookId, lease }: NewDelivery,
  { versions, holder, number, now }: NewDeliveries,
) => ({
  ...ENQUEUE_ONE,
  values: [
    event.day,
    ...eventColumns([event]).flat(),
    event.isTest,
    webhookId,
    id,
    event.body.length,
    lease,
    now,
    holder,
    versions?.get(event.merchantId),
    number?.number,
    number?.accepted,
  ],
});

const enqueueAll = ({ events, deliveries, versions = new Map(), holder, number, now }: NewDeliveries) => ({
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

const parameters = (count: number) => Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ');
const ROWS = 'select id, position, leased, outdated_merchant from webhooks';
const ENQUEUE_DURABLY = { name: 'enqueue durably', text: `${ROWS}.ingest(${parameters(23)})` };
const ENQUEUE = { name: 'enqueue', text: `${ROWS}.ingest_unflushed(${parameters(25)})` };
const ENQUEUE_ONE = {
  name: 'enqueue one',
  text: `select delivery as id, position, leased, outdated_merchant from webhooks.ingest_event(${parameters(18)})`,
};
