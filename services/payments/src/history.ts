import { type HistoryQuery, PaymentEvent, type PaymentHistory } from '@cpg/contracts';
import { readHistory } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { paymentMessage } from './messages.ts';
import { paymentStreamOf } from './payment/identity.ts';
import { paymentDecider } from './payment/payment.ts';
import { paymentsOfOrder } from './projections/payments.ts';

/** What happened to the payments of an order: the read model says which payments, their streams say what. */
export const paymentHistory = ({ client, readModel }: { client: EventStoreDBClient; readModel: Queryable }) => {
  const options = { client, decider: paymentDecider, schema: PaymentEvent, messageOf: paymentMessage };
  return async (orderId: string, query: HistoryQuery): Promise<PaymentHistory> => {
    const payments = await paymentsOfOrder(readModel, orderId);
    const streams = payments.map(({ id, createdAt }) => ({
      name: paymentStreamOf(id),
      since: createdAt.toISOString(),
    }));
    return readHistory(options, streams, query);
  };
};
