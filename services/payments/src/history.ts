import { type HistoryQuery, PaymentEvent, type PaymentHistory, type RecordedHistory } from '@cpg/contracts';
import { type HistoryStream, readHistory } from '@cpg/event-store';
import type { Queryable } from '@cpg/postgres';
import { readHistoryEntries } from '@cpg/stream-relay';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { paymentMessage } from './messages.ts';
import { paymentStreamOf } from './payment/identity.ts';
import { paymentDecider } from './payment/payment.ts';
import { paymentsOfOrder } from './projections/payments.ts';

export interface PaymentPast {
  readonly messagesOf: (orderId: string, query: HistoryQuery) => Promise<PaymentHistory>;
  /** What is recorded of the payments of an order. */
  readonly entriesOf: (orderId: string, query: HistoryQuery) => Promise<RecordedHistory>;
}

/** What happened to the payments of an order: the read model says which payments, their streams say what. */
export const paymentHistory = ({
  client,
  readModel,
}: {
  client: EventStoreDBClient;
  readModel: Queryable;
}): PaymentPast => {
  const options = { client, decider: paymentDecider, schema: PaymentEvent, messageOf: paymentMessage };
  const streamsOf = async (orderId: string): Promise<HistoryStream[]> => {
    const payments = await paymentsOfOrder(readModel, orderId);
    return payments.map(({ id, createdAt }) => ({ name: paymentStreamOf(id), startedAt: createdAt.toISOString() }));
  };
  return {
    messagesOf: async (orderId, query) => readHistory(options, await streamsOf(orderId), query),
    entriesOf: async (orderId, query) => readHistoryEntries(client, await streamsOf(orderId), query),
  };
};
