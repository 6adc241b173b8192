import { PaymentEvent } from '@cpg/contracts';
import { type CountTable, type Projection, type RecentEvents, stateAt, withoutProjected } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { deletedPaymentId } from './deletion.ts';
import { PAYMENT_STREAM_PREFIX } from '../payment/identity.ts';
import { paymentDecider } from '../payment/payment.ts';
import { exists, type Payment } from '../payment/state.ts';
import { orderOfPayment } from './order-of-payment.ts';
import { type ProjectedPayment, projectPayments } from './payment-rows.ts';

export const paymentCounts: readonly CountTable[] = [
  { name: 'payment_counts', of: 'payments', keys: ['status', 'currency', 'payment_rail'], where: 'not deleted' },
  { name: 'refund_counts', of: 'refunds', keys: ['currency'] },
];

/** The read models of payments and their refunds, built from the event log. The tombstone of a payment's stream clears
 *  the row. */
export const paymentProjection = (
  client: EventStoreDBClient,
  recent?: RecentEvents<Payment, PaymentEvent>,
): Projection => {
  const states = stateAt({ client, decider: paymentDecider, schema: PaymentEvent, recent });
  return {
    schema: 'payments',
    tables: ['payments', 'refunds'],
    counts: paymentCounts,
    version: 5,
    prefixes: [PAYMENT_STREAM_PREFIX],
    orderingKeyOf: orderOfPayment(client),
    transientColumns: [],
    apply: async (db, events, schema) => {
      const latestByPaymentId = new Map<string, ProjectedPayment>();
      for (const entry of await withoutProjected(db, `${schema}.payments`, PAYMENT_STREAM_PREFIX, events)) {
        const paymentId = deletedPaymentId(entry);
        if (paymentId) {
          latestByPaymentId.set(paymentId, { payment: { status: 'deleted', paymentId }, revision: 0 });
          continue;
        }
        // Null if the stream is tombstoned by now: the tombstone follows in the log and clears the row.
        const evolved = await states.read(entry);
        if (!evolved || !exists(evolved.state)) continue;
        const { state: payment, recorded } = evolved;
        latestByPaymentId.set(payment.paymentId, { payment, revision: recorded.revision });
      }
      await projectPayments(db, [...latestByPaymentId.values()], schema);
    },
  };
};
