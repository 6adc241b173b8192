import { LEDGER_STREAM_PREFIX, LedgerKept, PAYMENT_STREAM_PREFIX, PaymentEvent } from '@cpg/contracts';
import {
  type CountTable,
  isTombstone,
  parseRecorded,
  type Projection,
  rawEventsOf,
  type RecentEvents,
  stateAt,
  withoutProjected,
} from '@cpg/event-sourcing';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import { paymentDecider } from '../payment/payment.ts';
import { exists, type Payment } from '../payment/state.ts';
import { deletedPaymentId } from './deletion.ts';
import { projectKeptLedgers, type ProjectedPayment, projectPayments } from './payment-rows.ts';

export const paymentCounts: readonly CountTable[] = [
  {
    name: 'payment_counts',
    of: 'payments',
    keys: ['status', 'currency', 'payment_rail', 'due_back'],
    where: 'not deleted',
  },
  { name: 'refund_counts', of: 'refunds', keys: ['currency'] },
];

/** The read models of payments, their refunds and their ledgers, built from the event log. The tombstone of a payment's
 *  stream clears the row; `LedgerKept`, on a stream of its own, keeps its ledger. */
export const paymentProjection = (
  client: EventStoreDBClient,
  recent?: RecentEvents<Payment, PaymentEvent>,
): Projection => {
  const states = stateAt({ client, decider: paymentDecider, schema: PaymentEvent, recent });
  return {
    schema: 'payments',
    tables: ['payments', 'refunds', 'postings'],
    counts: paymentCounts,
    version: 10,
    prefixes: [PAYMENT_STREAM_PREFIX, LEDGER_STREAM_PREFIX],
    orderingKeyOf: orderOfPayment(client),
    transientColumns: [],
    apply: async (db, events, schema) => {
      const latestByPaymentId = new Map<string, ProjectedPayment>();
      const isLedger = ({ event }: AllStreamResolvedEvent) => event!.streamId.startsWith(LEDGER_STREAM_PREFIX);
      const ledgers = events.filter((entry) => isLedger(entry) && !isTombstone(entry));
      const ofPayments = events.filter((entry) => !isLedger(entry));
      for (const entry of await withoutProjected(db, `${schema}.payments`, PAYMENT_STREAM_PREFIX, ofPayments)) {
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
      await projectKeptLedgers(
        db,
        ledgers.map((entry) => parseRecorded(LedgerKept, entry).event.data),
        schema,
      );
    },
  };
};

const MAX_KNOWN = 20_000;

/** Finds the order that the first event of a payment names, for each of its events. An assignment to another order
 *  changes nothing: the events of a payment stay in one shard. Null for a deleted payment, whose events are gone. */
const orderOfPayment = (client: EventStoreDBClient) => {
  const known = new LRUCache<string, string>({ max: MAX_KNOWN });
  return async (entry: AllStreamResolvedEvent): Promise<string | null> => {
    if (isTombstone(entry)) return null;
    const event = entry.event!;
    const order = known.get(event.streamId) ?? orderIn(event.revision === 0n ? event : await first(event.streamId));
    if (order === null) return null;
    known.set(event.streamId, order);
    return order;
  };

  async function first(stream: string) {
    for await (const { event } of rawEventsOf(client, stream)) return event;
    return undefined;
  }
};

/** Events of every version have the field, so the event needs no further check. */
const orderIn = (event: { readonly data: unknown } | undefined): string | null =>
  (event?.data as { readonly orderId?: string } | undefined)?.orderId ?? null;
