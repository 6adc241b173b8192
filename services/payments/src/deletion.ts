import type { PaymentStatus } from '@cpg/contracts';
import { isAppError } from '@cpg/core';
import { isTombstone, tombstone } from '@cpg/event-store';
import { type Pool, transaction } from '@cpg/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import type { PaymentHandler } from './commands.ts';
import { PAYMENT_STREAM_PREFIX, paymentStreamOf } from './payment/identity.ts';
import { paymentsOfOrder, projectPayments } from './projections/payments.ts';

// A payment with another status arrived while its order was being deleted. The order has no record of it, so it is
// kept.
const DELETABLE: ReadonlyArray<PaymentStatus | 'none'> = ['applied', 'failed', 'refunded'];

/** Deletes the payments of a deleted order: tombstones their streams and clears their rows. Idempotent. */
export type DeletePayments = (orderId: string) => Promise<void>;

export const paymentDeletion =
  ({
    client,
    handler,
    readModel,
  }: {
    client: EventStoreDBClient;
    handler: PaymentHandler;
    readModel: Pool;
  }): DeletePayments =>
  async (orderId) => {
    for (const { id } of await paymentsOfOrder(readModel, orderId)) {
      const status = await statusOf(handler, id);
      if (status !== 'deleted') {
        if (!DELETABLE.includes(status)) continue;
        await tombstone(client, paymentStreamOf(id));
        handler.evict(id);
      }
      const deleted = { payment: { status: 'deleted', paymentId: id }, revision: 0 } as const;
      await transaction(readModel, (db) => projectPayments(db, [deleted]));
    }
  };

const statusOf = async (handler: PaymentHandler, paymentId: string): Promise<PaymentStatus | 'none' | 'deleted'> => {
  // The cached state may be out of date: another process may have changed the payment.
  handler.evict(paymentId);
  try {
    return (await handler.load(paymentId)).state.status;
  } catch (error) {
    if (isAppError(error, 'not_found')) return 'deleted';
    throw error;
  }
};

/** The payment whose stream was tombstoned by this log entry, or null for any other entry. */
export const deletedPaymentId = (entry: AllStreamResolvedEvent): string | null =>
  isTombstone(entry) ? entry.event!.streamId.slice(PAYMENT_STREAM_PREFIX.length) : null;
