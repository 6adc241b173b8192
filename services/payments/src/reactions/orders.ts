import type { OrderMessage, OrphanReason, PaymentOutcome } from '@cpg/contracts';
import type { CallContext } from '@cpg/runtime';
import type { PaymentCommands } from '../commands.ts';
import type { DeletePayments } from '../deletion.ts';

/** The types of messages on `orders.v1` that payments consumes. */
export const ORDER_MESSAGE_TYPES = [
  'order.payments_applied',
  'order.payments_orphaned',
  'order.expired',
  'order.canceled',
  'order.deleted',
];

/** Records what orders decided about their payments, and deletes the payments of a deleted order. Orders also calls us
 *  directly with the same decisions, so a repeated or outdated message changes nothing. */
export const reactToOrders =
  ({ commands, deletePayments }: { commands: PaymentCommands; deletePayments: DeletePayments }) =>
  async (messages: readonly OrderMessage[]): Promise<void> => {
    for (const message of messages) {
      const { id, correlationid: correlationId, orderid: orderId } = message;
      const context: CallContext = { actor: 'service:payments', requestId: id, correlationId };
      await commands.recordOutcomes(outcomesIn(message), context, { causationId: id });
      if (message.type === 'order.deleted') await deletePayments(orderId);
    }
  };

const outcomesIn = (message: OrderMessage): PaymentOutcome[] => {
  const { time: at } = message;
  const orphans = (paymentIds: readonly string[], orphan_reason: OrphanReason): PaymentOutcome[] =>
    paymentIds.map((payment_id) => ({ status: 'orphan', payment_id, orphan_reason, at }));
  switch (message.type) {
    case 'order.payments_applied':
      return message.data.change.allocations.map(({ paymentId, appliedMinor, unappliedMinor }) => ({
        status: 'applied',
        payment_id: paymentId,
        applied_minor: appliedMinor,
        unapplied_minor: unappliedMinor,
        at,
      }));
    case 'order.payments_orphaned':
      return orphans(message.data.change.paymentIds, message.data.change.orphanReason);
    case 'order.expired':
      return orphans(message.data.change.orphanedPaymentIds, 'late');
    case 'order.canceled':
      return orphans(message.data.change.orphanedPaymentIds, 'canceled');
    default:
      return [];
  }
};
