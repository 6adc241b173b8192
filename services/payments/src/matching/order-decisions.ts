import { type OrderMessage, orderRefundCallOf, type OrphanReason, type PaymentOutcome } from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import type { PaymentCommands } from './commands.ts';
import type { DeletePayments } from '../read/deletion.ts';
import type { RecordOrderRefund } from '../refunds/order-refunds.ts';

/** Records what orders decided about their payments, and the parts of their refunds; deletes the payments of a deleted
 *  order. Orders also calls us directly with the same decisions, so a repeated or outdated message changes nothing. */
export const reactToOrders =
  ({
    commands,
    deletePayments,
    recordOrderRefund,
  }: {
    commands: PaymentCommands;
    deletePayments: DeletePayments;
    recordOrderRefund: RecordOrderRefund;
  }) =>
  async (messages: readonly OrderMessage[]): Promise<void> => {
    for (const message of messages) {
      const { id, correlationid: correlationId, orderid: orderId } = message;
      const context: CallContext = { actor: 'service:payments', requestId: id, correlationId };
      await commands.recordOutcomes(outcomesIn(message), context, { causationId: id });
      if (message.type === 'order.refunded')
        await recordOrderRefund(orderRefundCallOf(message.data.change), context, { causationId: id });
      if (message.type === 'order.deleted') await deletePayments(orderId);
    }
  };

const orphans = (
  payment_ids: readonly string[],
  orphan_reason: OrphanReason,
  { sightings, at }: { readonly sightings?: Record<string, number> | undefined; readonly at: string },
): PaymentOutcome[] =>
  payment_ids.map((payment_id) => ({
    status: 'orphan',
    payment_id,
    orphan_reason,
    sighting: sightings?.[payment_id],
    at,
  }));

/** The outcomes in a message, by message type. Null for messages that payments does not need. */
const OUTCOMES: {
  [T in OrderMessage['type']]: ((message: Extract<OrderMessage, { type: T }>) => PaymentOutcome[]) | null;
} = {
  'order.payments_applied': ({ time: at, data: { change } }) =>
    change.allocations.map(({ paymentId, appliedMinor, unappliedMinor, smallestPayableMinor }) => ({
      status: 'applied',
      payment_id: paymentId,
      applied_minor: appliedMinor,
      unapplied_minor: unappliedMinor,
      ...(smallestPayableMinor !== undefined && { smallest_payable_minor: smallestPayableMinor }),
      sighting: change.sightings?.[paymentId],
      at,
    })),
  'order.payments_orphaned': ({ data: { change } }) => orphans(change.paymentIds, change.orphanReason, change),
  'order.expired': ({ data: { change } }) =>
    change.orphanedPaymentIds.flatMap((id) => orphans([id], change.orphanReasons?.[id] ?? 'late', change)),
  'order.canceled': ({ data: { change } }) => orphans(change.orphanedPaymentIds, 'canceled', change),
  'order.refunded': () => [],
  'order.deleted': () => [],
  'order.created': null,
  'order.instructed': null,
  'order.payment_received': null,
  'order.payment_confirmed': null,
  'order.payment_block_changed': null,
  'order.payment_failed': null,
  'order.payment_reinstated': null,
  'order.payment_refunded': null,
  'order.accepted': null,
  'order.paid': null,
  'order.updated': null,
  'order.renewed': null,
  'order.time_advanced': null,
};

/** The types of messages on `orders.v1` that payments consumes. */
export const ORDER_MESSAGE_TYPES = Object.entries(OUTCOMES).flatMap(([type, outcomes]) => (outcomes ? [type] : []));

/** Empty also for a message type that this version does not know. */
const outcomesIn = (message: OrderMessage): PaymentOutcome[] => {
  const outcomes = OUTCOMES[message.type] as ((message: OrderMessage) => PaymentOutcome[]) | null | undefined;
  return outcomes ? outcomes(message) : [];
};
