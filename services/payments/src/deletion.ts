import type { PaymentStatus } from '@cpg/contracts';
import { isAppError } from '@cpg/core';
import { isTombstone, tombstone } from '@cpg/event-store';
import type { Pool } from '@cpg/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import type { PaymentHandler } from './commands.ts';
import { paymentStreamOf } from './payment/identity.ts';
import { paymentIdsOfOrder, projectDeletion } from './projections/payments.ts';

// What is not settled came while its order was being deleted, and the order never knew of it: that money stays on record.
const SETTLED: ReadonlyArray<PaymentStatus | 'none'> = ['applied', 'failed', 'refunded'];

/** Takes the settled payments of a deleted order from the read model and makes their streams unreadable. Safe to run again. */
export const forgetPayments =
  ({ client, handler, readModel }: { client: EventStoreDBClient; handler: PaymentHandler; readModel: Pool }) =>
  async (orderId: string): Promise<void> => {
    for (const paymentId of await paymentIdsOfOrder(readModel, orderId)) {
      const status = await statusOf(handler, paymentId);
      if (status !== 'deleted') {
        if (!SETTLED.includes(status)) continue;
        await tombstone(client, paymentStreamOf(paymentId));
        handler.evict(paymentId);
      }
      await projectDeletion(readModel, paymentId);
    }
  };

const statusOf = async (handler: PaymentHandler, paymentId: string): Promise<PaymentStatus | 'none' | 'deleted'> => {
  // Another process may have recorded what became of it.
  handler.evict(paymentId);
  try {
    return (await handler.load(paymentId)).state.status;
  } catch (error) {
    if (isAppError(error, 'not_found')) return 'deleted';
    throw error;
  }
};

/** The payment whose stream this entry of the log says was tombstoned, or null for any other entry. */
export const deletedPaymentId = (resolved: AllStreamResolvedEvent): string | null =>
  isTombstone(resolved) ? resolved.event!.streamId.slice(paymentStreamOf('').length) : null;
