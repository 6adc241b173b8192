import { PaymentEvent } from '@cpg/contracts';
import { parseRecorded, stateAt } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { deletedPaymentId } from '../deletion.ts';
import { paymentDecider } from '../payment/payment.ts';
import { exists } from '../payment/state.ts';
import { projectDeletion, type ProjectedPayment, projectPayments } from './payments.ts';

/** Applies a batch of the log to the read model. */
export const paymentCatchUp = (client: EventStoreDBClient) => {
  const states = stateAt({ client, decider: paymentDecider, schema: PaymentEvent });
  return async (db: Queryable, events: AllStreamResolvedEvent[]): Promise<void> => {
    const newest = new Map<string, ProjectedPayment>();
    const deleted: string[] = [];
    for (const resolved of events) {
      const deletedId = deletedPaymentId(resolved);
      if (deletedId) {
        deleted.push(deletedId);
        continue;
      }
      const recorded = parseRecorded(PaymentEvent, resolved);
      const payment = await states.after(recorded);
      if (payment && exists(payment)) newest.set(payment.paymentId, { payment, revision: recorded.revision });
    }
    await projectPayments(db, [...newest.values()]);
    for (const paymentId of deleted) await projectDeletion(db, paymentId);
  };
};
