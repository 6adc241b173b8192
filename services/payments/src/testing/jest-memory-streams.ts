import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type DomainMessage, messageFor, type OrderDeletionRecorded, type OrderEvent } from '@cpg/contracts';
import { type EventMetadata, type Recorded } from '@cpg/event-sourcing';
import type { Pool } from '@cpg/platform/postgres';
import { newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { orderDecider } from '../../../orders/src/order/order.ts';
import { type ExistingOrder, exists as orderExists } from '../../../orders/src/order/state.ts';
import { orderView } from '../../../orders/src/order/view.ts';
import { paymentDecider } from '../payment/payment.ts';
import { paymentMessage } from '../messages.ts';
import { exists as paymentExists } from '../payment/state.ts';
import { memoryHandler } from './jest-memory.ts';

export type MemoryStreams = ReturnType<typeof memoryStreams>;

/** The streams of orders and payments in memory. Each event becomes a message in `inFlight`, as the relays would
 *  publish it. */
export const memoryStreams = () => {
  /** While true, messages of a stream that are in flight when it is tombstoned are never published. */
  let relayIsBehind = false;
  const inFlight: DomainMessage[] = [];
  const deletions: Deletion[] = [];

  const orders = memoryHandler(orderDecider, (recorded, state) => {
    if (orderExists(state)) {
      const { orderId, merchantId } = state;
      const subject = { subject: orderId, orderId, merchantId, resource: orderView(state) };
      inFlight.push(messageOf(recorded, '/orders', subject));
    } else if (state.status === 'deleted') deletions.push({ recorded, order: state.lastState });
  });
  const payments = memoryHandler(paymentDecider, (recorded, state) => {
    if (paymentExists(state)) inFlight.push(paymentMessage(recorded, state)!);
  });
  const paymentsOf = (orderId: string) =>
    payments
      .states()
      .filter(paymentExists)
      .filter((payment) => payment.orderId === orderId);

  const client = {
    // Only the record of a deletion is appended without the handlers.
    appendToStream: async (
      _stream: string,
      [{ data, metadata }]: [{ data: OrderDeletionRecorded['data']; metadata: EventMetadata }],
    ) => {
      const { orderId, merchantId, sequence: revision } = data;
      const recorded = { id: newId('event'), revision, event: { type: 'OrderDeletionRecorded', data }, metadata };
      inFlight.push(messageOf(recorded, '/orders', { subject: orderId, orderId, merchantId, resource: null }));
      return { success: true };
    },
    // Only the last event of an order that is deleted is read.
    readStream: (streamId: string) => {
      const { recorded } = deletions.find(({ order }) => streamId === `order-${order.orderId}`)!;
      const { event, metadata } = recorded;
      const revision = BigInt(recorded.revision);
      const resolved = { event: { ...event, id: randomUUID(), streamId, revision, metadata, created: new Date() } };
      return Object.assign(Readable.from([resolved]), { cancel: async () => {} });
    },
    tombstoneStream: async (stream: string) => {
      const id = stream.slice(stream.indexOf('-') + 1);
      (stream.startsWith('order') ? orders : payments).tombstone(id);
      const isLost = ({ subject, type }: DomainMessage) => subject === id && type !== 'order.deleted';
      if (relayIsBehind) inFlight.splice(0, inFlight.length, ...inFlight.filter((message) => !isLost(message)));
    },
  } as unknown as EventStoreDBClient;
  const query = async (sql: unknown, values?: readonly [string]) => ({
    rows:
      typeof sql === 'string' && sql.startsWith('select id, created_at from payments')
        ? paymentsOf(values![0]).map(({ paymentId: id, createdAt }) => ({ id, created_at: new Date(createdAt) }))
        : [],
  });
  const connection = { query, on: () => {}, off: () => {}, release: () => {} };
  const readModel = { query, connect: async () => connection } as unknown as Pool;

  return {
    orders,
    payments,
    paymentsOf,
    inFlight,
    /** Deletions of orders that are recorded but not finished. */
    deletions,
    client,
    readModel,
    clear: (behind: boolean) => {
      for (const handler of [orders, payments]) handler.clear();
      for (const list of [inFlight, deletions]) list.length = 0;
      relayIsBehind = behind;
    },
  };
};

interface Deletion {
  readonly recorded: Recorded<OrderEvent>;
  /** The order right before it was deleted. */
  readonly order: ExistingOrder;
}

const messageOf = (
  recorded: Pick<Recorded<{ type: string; data: { at: string } }>, 'id' | 'event' | 'metadata' | 'revision'>,
  source: '/orders' | '/payments',
  { resource, ...subject }: { subject: string; orderId: string; merchantId: string; resource: unknown },
) => messageFor(recorded, { source, ...subject }, resource) as DomainMessage;
