import {
  AppError,
  type AssignedInstruction,
  deletionStreamOf,
  type OrderDeletionRecorded,
  OrderEvent,
  orderStreamOf,
  type RecordedDeposit,
  type RecordedPayable,
} from '@cpg/contracts';
import {
  append,
  endOf,
  firstEvent,
  lastEvent,
  linkEvents,
  parseRecorded,
  type Recorded,
  stateAt,
  tombstone,
} from '@cpg/event-sourcing';
import type { Pool } from '@cpg/platform/postgres';
import type { CallContext } from '@cpg/platform';
import type { AllStreamResolvedEvent, EventStoreDBClient } from '@eventstore/db-client';
import type { PaymentsClient } from './payments-client.ts';
import type { OrderHandler } from './order-handler.ts';
import { orderDecider } from '../order/order.ts';
import { type ExistingOrder, exists } from '../order/state.ts';
import { outcomeOf } from '../order/outcomes.ts';
import { projectOrders } from '../read/order-projection.ts';

export interface Deletion {
  /** Throws `order_has_unsettled_funds` if payments has a refund that is not settled, or a payment that is not settled
   *  and that the order does not decide on: one beyond the maximum number of payments, or one whose money the order has
   *  not learned of. */
  readonly refuseUnsettled: (order: ExistingOrder, context: CallContext) => Promise<void>;
  /** Finishes a deletion after `OrderDeleted` was recorded: appends the deletion record for auditors, sends payments
   *  its last outcomes, removes the order and its payments from the read models, and tombstones the streams. `order` is
   *  the state before the deletion. Idempotent: it runs in the request, and again when the event log is read if the
   *  process crashed in between. */
  readonly finish: (
    deleted: Pick<Recorded<OrderEvent>, 'id' | 'revision' | 'event' | 'metadata'>,
    order: ExistingOrder,
    context: CallContext,
  ) => Promise<void>;
  /** Finishes the recorded deletion of an order at once, although its first attempt failed. */
  readonly resume: (order: ExistingOrder, context: CallContext) => Promise<void>;
}

export const orderDeletion = ({
  client,
  handler,
  readModel,
  payments,
}: {
  client: EventStoreDBClient;
  handler: OrderHandler;
  readModel: Pool;
  payments: PaymentsClient;
}): Deletion => {
  const refuseUnsettled: Deletion['refuseUnsettled'] = async (order, context) => {
    const { payment_id: paymentId, refund_id: refundId } = await payments.unsettledPayment(order, context);
    if (refundId !== undefined)
      throw new AppError(
        'order_has_unsettled_funds',
        `refund ${refundId} of payment ${paymentId} is not settled: send it and wait until it is settled, or cancel it while it is pending`,
      );
    if (paymentId !== null)
      throw new AppError(
        'order_has_unsettled_funds',
        `payment ${paymentId}, on which the order has not decided, is neither settled nor refunded: wait until it is confirmed, then refund it`,
      );
  };
  const finish: Deletion['finish'] = async ({ id, revision, event, metadata }, order, context) => {
    const { orderId, merchantId } = order;
    const stream = deletionStreamOf(orderId);
    const { actor, hash: lastHash } = metadata;
    const paymentIds = await payments.paymentIdsOf(orderId, context);
    const record = deletionRecord(order, { actor, lastHash, sequence: revision, paymentIds, at: event.data.at });
    const first = await firstEvent(client, orderStreamOf(orderId), OrderEvent);
    const idempotency = first === null || first === 'deleted' ? undefined : first.metadata.idempotency;
    const caller = { actor, requestId: metadata.requestId, correlationId: metadata.$correlationId };
    const recorded = linkEvents([record], stream, endOf(stream, null), caller, { causationId: id, idempotency });
    // A conflict means that the record exists already.
    await append(client, stream, recorded, -1);
    await projectOrders(readModel, [{ order: { status: 'deleted', orderId, merchantId }, revision }]);
    // No later message carries these outcomes, because nothing is published for a deleted order.
    await payments.recordOutcomes(order.payments.map(outcomeOf), context);
    await payments.deletePayments(orderId, context);
    await tombstone(client, orderStreamOf(orderId));
    handler.evict(orderId);
  };
  return {
    refuseUnsettled,
    finish,
    resume: async (order, context) => {
      const deleted = await lastEvent(client, orderStreamOf(order.orderId), OrderEvent);
      if (deleted?.event.type === 'OrderDeleted') await finish(deleted, order, context);
    },
  };
};

/** The record of the deletion of `order`. */
export const deletionRecord = (
  { orderId, merchantId, payments, instructions }: ExistingOrder,
  deleted: Pick<OrderDeletionRecorded['data'], 'actor' | 'lastHash' | 'sequence' | 'paymentIds' | 'at'>,
): OrderDeletionRecorded => {
  const { at, paymentIds, ...last } = deleted;
  const failedPaymentIds = payments.filter(({ status }) => status === 'failed').map(({ paymentId }) => paymentId);
  return {
    type: 'OrderDeletionRecorded',
    data: {
      orderId,
      merchantId,
      ...last,
      payables: instructions.map(payableOf),
      paymentIds,
      ...(failedPaymentIds.length > 0 && { failedPaymentIds }),
      at,
    },
  };
};

/** The part of an instruction that outlives its order. */
export const payableOf = (instruction: AssignedInstruction): RecordedPayable => {
  if (instruction.rail === 'crypto_deposit') return { rail: instruction.rail, ...depositOf(instruction) };
  const { rail, provider, paymentReference, deposits } = instruction;
  return { rail, provider, paymentReference, ...(deposits && { deposits: deposits.map(depositOf) }) };
};

const depositOf = ({ network, address, derivation }: RecordedDeposit): RecordedDeposit => ({
  network,
  address,
  derivation,
});

/** Finishes the deletions in a batch of log events that a crash interrupted. */
export const finishDeletions = (client: EventStoreDBClient, deletion: Deletion) => {
  const states = stateAt({ client, decider: orderDecider, schema: OrderEvent });
  return async (events: readonly AllStreamResolvedEvent[]): Promise<void> => {
    for (const entry of events) {
      if (entry.event?.type !== ('OrderDeleted' satisfies OrderEvent['type'])) continue;
      const recorded = parseRecorded(OrderEvent, entry);
      const before = await states.before(recorded);
      if (!before || !exists(before)) continue;
      const { actor, requestId, $correlationId } = recorded.metadata;
      await deletion.finish(recorded, before, { actor, requestId, correlationId: $correlationId });
    }
  };
};
