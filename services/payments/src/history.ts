import { type HistoryQuery, PaymentEvent, type PaymentHistory, type RecordedHistory } from '@cpg/contracts';
import { type HistoryStream, readHistory, readHistoryEntries } from '@cpg/event-sourcing';
import type { Queryable } from '@cpg/platform/postgres';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { paymentMessage } from './messages.ts';
import { paymentStreamOf } from './payment/identity.ts';
import { paymentDecider } from './payment/payment.ts';
import { paymentsOfOrder } from './read/payment-rows.ts';

export interface PaymentHistoryReader {
  /** The messages on `payments.v1` about the payments of an order. */
  readonly messagesOf: (orderId: string, query: HistoryQuery) => Promise<PaymentHistory>;
  /** The recorded events of the payments of an order. */
  readonly entriesOf: (orderId: string, query: HistoryQuery) => Promise<RecordedHistory>;
}

/** Reads the history of an order's payments. The read model lists the payments, the event store has their events. */
export const paymentHistory = ({
  client,
  readModel,
}: {
  client: EventStoreDBClient;
  readModel: Queryable;
}): PaymentHistoryReader => {
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
