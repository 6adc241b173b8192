import { PaymentEvent } from '@cpg/contracts';
import { parseRecorded, stateAt } from '@cpg/event-store';
import { type Projection, withoutProjected } from '@cpg/stream-relay';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { deletedPaymentId } from '../deletion.ts';
import { paymentStreamOf } from '../payment/identity.ts';
import { paymentDecider } from '../payment/payment.ts';
import { exists } from '../payment/state.ts';
import { projectDeletion, type ProjectedPayment, projectPayments } from './payments.ts';

/** Projects the log to the read model of payments. */
export const paymentProjection = (client: EventStoreDBClient): Projection => {
  const states = stateAt({ client, decider: paymentDecider, schema: PaymentEvent });
  return {
    schema: 'payments',
    table: 'payments',
    prefixes: [paymentStreamOf('')],
    transientColumns: [],
    apply: async (db, events, table) => {
      const newest = new Map<string, ProjectedPayment>();
      const deleted: string[] = [];
      for (const resolved of await withoutProjected(db, table, paymentStreamOf(''), events)) {
        const deletedId = deletedPaymentId(resolved);
        if (deletedId) {
          deleted.push(deletedId);
          continue;
        }
        const recorded = parseRecorded(PaymentEvent, resolved);
        const payment = await states.after(recorded);
        if (payment && exists(payment)) newest.set(payment.paymentId, { payment, revision: recorded.revision });
      }
      await projectPayments(db, [...newest.values()], table);
      for (const paymentId of deleted) await projectDeletion(db, paymentId, table);
    },
  };
};
