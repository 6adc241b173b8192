import { type Pool, transaction } from '@cpg/postgres';
import { newId } from '@cpg/runtime';
import type { Leases } from '../storage/leases.ts';
import type { Partitions } from '../storage/partitions.ts';
import { type Addressed, enqueue, forgetOrders, lockOrders } from '../storage/queue.ts';
import type { Claims } from './claims.ts';
import type { Delivery } from './delivery.ts';
import type { WebhookDispatcher } from './dispatcher.ts';
import type { LeaseChanges } from './lease-changes.ts';
import type { ToldEvent } from './payload.ts';

export interface Arrival {
  readonly events: readonly ToldEvent[];
  readonly recipients: readonly { readonly event: ToldEvent; readonly webhookId: string }[];
  readonly deletedOrderIds?: readonly string[];
  /** By merchant: of the webhooks that `recipients` were chosen from. */
  readonly versions?: ReadonlyMap<string, string>;
}

export interface IntakeOptions {
  readonly pool: Pool;
  readonly partitions: Partitions;
  readonly leases: Leases;
  readonly dispatcher: WebhookDispatcher;
  readonly claims: Claims;
  readonly changes: LeaseChanges;
  readonly now: () => Date;
}

/** Takes in events: durable rows first, all in one transaction, then the first attempts of those that this instance has room for.
 *  Returns the ids of the deliveries that are new; null, and nothing is taken in, when a merchant's webhooks are not of its version any
 *  more. Taking in the same events again changes nothing. */
export const createIntake =
  ({ pool, partitions, leases, dispatcher, claims, changes, now }: IntakeOptions) =>
  ({ events, recipients, deletedOrderIds = [], versions }: Arrival): Promise<string[] | null> =>
    changes.exclusively(async () => {
      await partitions.ensure(events.map(({ day }) => day));
      const at = now();
      const holder = leases.holder();
      const admits = dispatcher.admission();
      const addressed: Addressed[] = recipients.map(({ event, webhookId }) => ({
        id: newId('delivery', at),
        event,
        webhookId,
        lease: leases.valid() && admits(webhookId, event.body.length),
      }));
      const arrival = { events, addressed, versions, holder, now: at };
      const rows =
        deletedOrderIds.length === 0
          ? await enqueue(pool, arrival)
          : await transaction(pool, async (db) => {
              await lockOrders(db, [...new Set([...deletedOrderIds, ...events.map(({ orderId }) => orderId)])]);
              await forgetOrders(db, deletedOrderIds, at);
              return enqueue(db, arrival);
            });
      dispatcher.forget(new Set(deletedOrderIds));
      if (!rows) return null;

      const enqueued = new Map(rows.map((row) => [row.id, row]));
      const mine: Delivery[] = [];
      for (const { id, event, webhookId } of addressed) {
        const row = enqueued.get(id);
        if (row?.leased)
          mine.push({
            id,
            position: row.position,
            day: event.day,
            webhookId,
            orderId: event.orderId,
            attempts: 0,
            attemptsBefore: null,
            isTest: event.isTest,
            event,
          });
        else if (row) claims.expect(webhookId);
      }
      // Under another name by now, it has lost what it leased: others make the attempts.
      if (leases.holder() === holder) dispatcher.accept(mine);
      return rows.map(({ id }) => id);
    });

export type Intake = ReturnType<typeof createIntake>;
