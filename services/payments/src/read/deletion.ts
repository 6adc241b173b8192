import { isAppError, PAYMENT_STREAM_PREFIX, type PaymentEvent, type PaymentStatus } from '@cpg/contracts';
import { type CommandHandler, isTombstone, type LoadedStream, tombstone } from '@cpg/event-sourcing';
import { type Pool, transaction } from '@cpg/platform/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import type { PaymentCommand } from '../payment/command.ts';
import { isAfterDeletion, paymentStreamOf } from '../payment/identity.ts';
import { type ExistingPayment, exists, type Payment } from '../payment/state.ts';
import type { KeepLedger } from './kept-ledger.ts';
import { paymentsOfOrder, projectPayments } from './payment-rows.ts';

// A payment with another status arrived while its order was being deleted. The order has no record of it, so it is
// kept.
const DELETABLE: readonly PaymentStatus[] = ['applied', 'failed', 'refunded'];

type PaymentHandler = Pick<CommandHandler<Payment, PaymentCommand, PaymentEvent>, 'load' | 'evict'>;

/** Deletes the payments of a deleted order: keeps their ledgers, tombstones their streams and clears their rows.
 *  Idempotent. */
export type DeletePayments = (orderId: string) => Promise<void>;

export const paymentDeletion =
  ({
    client,
    handler,
    readModel,
    keepLedger,
  }: {
    client: EventStoreDBClient;
    keepLedger: KeepLedger;
    handler: PaymentHandler;
    readModel: Pool;
  }): DeletePayments =>
  async (orderId) => {
    for (const { id } of await paymentsOfOrder(readModel, orderId)) {
      if (!(await tombstonePayment(id))) continue;
      handler.evict(id);
      const deleted = { payment: { status: 'deleted', paymentId: id }, revision: 0 } as const;
      await transaction(readModel, (db) => projectPayments(db, [deleted]));
    }

    async function tombstonePayment(id: string): Promise<boolean> {
      for (;;) {
        const loaded = await loadPayment(handler, id);
        if (loaded === 'deleted') return true;
        const { state, revision } = loaded;
        if (!isDeletable(state)) return false;
        await keepLedger(state);
        // The money of a failed payment may be seen again meanwhile: then the payment stays.
        if ((await tombstone(client, paymentStreamOf(id), revision)) === 'tombstoned') return true;
      }
    }
  };

const isDeletable = (payment: Payment): payment is ExistingPayment =>
  exists(payment) &&
  DELETABLE.includes(payment.status) &&
  !isAfterDeletion(payment.providerId) &&
  // Its rail names another order, or none: money that is seen again would not find the record of this deletion.
  !(payment.assignment && payment.status === 'failed');

const loadPayment = async (handler: PaymentHandler, paymentId: string): Promise<LoadedStream<Payment> | 'deleted'> => {
  // The cached state may be out of date: another process may have changed the payment.
  handler.evict(paymentId);
  try {
    return await handler.load(paymentId);
  } catch (error) {
    if (isAppError(error, 'not_found')) return 'deleted';
    throw error;
  }
};

/** The payment whose stream was tombstoned by this log entry, or null for any other entry. */
export const deletedPaymentId = (entry: AllStreamResolvedEvent): string | null =>
  isTombstone(entry) ? entry.event!.streamId.slice(PAYMENT_STREAM_PREFIX.length) : null;
