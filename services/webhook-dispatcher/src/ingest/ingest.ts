import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type Pool, transaction } from '@cpg/platform/postgres';
import { newId } from '@cpg/platform';
import { deleteOrders } from '../queue/deletions.ts';
import type { LeaseChanges, Leases } from '../queue/leases.ts';
import type { Partitions } from '../queue/partitions.ts';
import { enqueue, type Enqueued, type EnqueuedRow, lockOrders, type NewDelivery } from './enqueue.ts';
import type { Claims } from '../queue/claims.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { Dispatcher } from '../queue/dispatcher.ts';
import type { RenderedEvent } from '../delivery/render.ts';

export interface EventBatch {
  readonly events: readonly RenderedEvent[];
  readonly recipients: readonly { readonly event: RenderedEvent; readonly webhookId: string }[];
  readonly deletedOrderIds?: readonly string[];
  /** By merchant: the version of the webhooks from which `recipients` were chosen. */
  readonly versions?: ReadonlyMap<string, string>;
}

export interface IngestOptions {
  readonly pool: Pool;
  readonly partitions: Partitions;
  readonly leases: Leases;
  readonly dispatcher: Dispatcher;
  readonly claims: Claims;
  readonly changes: LeaseChanges;
  readonly now: () => Date;
}

export interface Ingested {
  /** The ids of new deliveries. */
  readonly deliveryIds: readonly string[];
  /** Merchants whose webhooks have changed since `versions`. Nothing of theirs was stored. */
  readonly outdatedMerchantIds: readonly string[];
}

/** Ingests events: first stores them and their deliveries in one transaction, then starts the first attempts for which
 *  this instance has room. Ingesting the same events again changes nothing. */
export const createIngest =
  ({ pool, partitions, leases, dispatcher, claims, changes, now }: IngestOptions) =>
  (batch: EventBatch): Promise<Ingested> =>
    changes.exclusively(async () => {
      const { events, recipients, deletedOrderIds = [], versions } = batch;
      await partitions.ensure(events.map(({ day }) => day));
      const at = now();
      const holder = leases.holder();
      const admits = dispatcher.admission();
      const deliveries: NewDelivery[] = recipients.map(({ event, webhookId }) => ({
        id: newId('delivery', at),
        event,
        webhookId,
        lease: leases.isValid() && admits(webhookId, event.body.length),
      }));
      const work = { events, deliveries, versions, holder, now: at };
      const { rows, outdatedMerchantIds } = await store(pool, work, deletedOrderIds);
      dispatcher.dropOrders(new Set(deletedOrderIds));

      const rowOf = new Map(rows.map((row) => [row.id, row]));
      const leased: Delivery[] = [];
      for (const delivery of deliveries) {
        const row = rowOf.get(delivery.id);
        if (row?.leased) leased.push(firstDelivery(delivery, row));
        else if (row) claims.expect(delivery.webhookId);
      }
      // Otherwise the leases expired meanwhile: other instances make these attempts.
      if (leases.holder() === holder) dispatcher.accept(leased);
      // undici writes the request in the next turn of the event loop. The consumer fetches after that.
      if (leased.length > 0) await yieldToEventLoop();
      return { deliveryIds: rows.map(({ id }) => id), outdatedMerchantIds };
    });

export type Ingest = ReturnType<typeof createIngest>;

const store = (
  pool: Pool,
  work: Parameters<typeof enqueue>[1],
  deletedOrderIds: readonly string[],
): Promise<Enqueued> => {
  if (deletedOrderIds.length === 0) return enqueue(pool, work);
  return transaction(pool, async (db) => {
    await lockOrders(db, [...new Set([...deletedOrderIds, ...work.events.map(({ orderId }) => orderId)])]);
    await deleteOrders(db, deletedOrderIds, work.now);
    return enqueue(db, work);
  });
};

const firstDelivery = ({ id, event, webhookId }: NewDelivery, { position }: EnqueuedRow): Delivery => ({
  position,
  id,
  day: event.day,
  webhookId,
  orderId: event.orderId,
  attempts: 0,
  attemptsBefore: null,
  isTest: event.isTest,
  event,
});
