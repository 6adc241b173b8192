import { isAppError, isTemporary, type OrderRefundCall, type RefundableOfOrder } from '@cpg/contracts';
import type { HandleOptions } from '@cpg/event-sourcing';
import type { CallContext, Logger } from '@cpg/platform';
import type { PaymentCommands } from '../matching/commands.ts';
import type { NotifyOrder } from '../matching/notify-order.ts';
import { appliedLeftMinor, isReserved } from '../payment/state.ts';

/** Records the parts of a refund of an order on its payments, and sends each to the order. Idempotent: a repeat
 *  finishes what a crash left. A part that its payment cannot take any more is left out, with a warning. */
export type RecordOrderRefund = (
  call: OrderRefundCall,
  context: CallContext,
  options?: Pick<HandleOptions, 'causationId'>,
) => Promise<void>;

export interface OrderRefunds {
  /** What can be refunded of the applied amounts of these payments. */
  readonly refundable: (paymentIds: readonly string[]) => Promise<RefundableOfOrder>;
  readonly record: RecordOrderRefund;
}

export const orderRefunds = ({
  commands,
  notifyOrder,
  now,
  log,
}: {
  readonly commands: PaymentCommands;
  readonly notifyOrder: NotifyOrder;
  readonly now: () => Date;
  readonly log: Logger;
}): OrderRefunds => ({
  refundable: async (paymentIds) => ({
    payments: await Promise.all(
      paymentIds.map(async (paymentId) => {
        // A cached payment may lack the refund of another instance.
        const payment = await commands.find(paymentId, { fresh: true });
        const parts = payment.refunds.filter(({ orderRefundId }) => orderRefundId !== undefined);
        return {
          payment_id: paymentId,
          left_minor: String(appliedLeftMinor(payment)),
          recorded_parts: parts.map(({ refundId }) => refundId),
          open_refund: payment.refunds.find(({ status }) => isReserved(status))?.refundId,
        };
      }),
    ),
  }),

  record: async ({ order_refund_id: orderRefundId, reason, parts }, context, options) => {
    for (const { refund_id: refundId, payment_id: paymentId, amount_minor } of parts) {
      const amountMinor = BigInt(amount_minor);
      try {
        const command = { type: 'RefundPayment', refundId, orderRefundId, amountMinor, reason, at: now() } as const;
        await notifyOrder(await commands.run(paymentId, command, context, options), context);
      } catch (error) {
        if (!isAppError(error) || isTemporary(error)) throw error;
        log.warn({ err: error, orderRefundId, refundId, paymentId }, 'a part of a refund of an order is not recorded');
      }
    }
  },
});
