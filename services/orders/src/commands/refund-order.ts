import { AppError, type OrderRefund, orderRefundCallOf, type RefundOrderCall } from '@cpg/contracts';
import type { CallContext, Logger } from '@cpg/platform';
import { orderRefundView } from '../order/refund-order.ts';
import { loadOrder, type OrderHandler } from './order-handler.ts';
import type { OrderCommands } from './order-commands.ts';
import type { PaymentsClient } from './payments-client.ts';

/** Records the refund of an order, which the order splits over its payments. Then payments records one refund for each
 *  of them. Idempotent by the id of the refund. Throws `not_found` for an unknown order and for the order of another
 *  merchant, `dependency_unavailable` if payments does not answer before the refund is recorded, and the errors of the
 *  command `RefundOrder`. */
export type RefundOrder = (orderId: string, call: RefundOrderCall, context: CallContext) => Promise<OrderRefund>;

export const orderRefunding =
  ({
    commands,
    handler,
    payments,
    now,
    log,
  }: {
    readonly commands: OrderCommands;
    readonly handler: OrderHandler;
    readonly payments: Pick<PaymentsClient, 'refundable' | 'recordOrderRefund'>;
    readonly now: () => Date;
    readonly log: Logger;
  }): RefundOrder =>
  async (orderId, { merchant_id, order_refund_id: orderRefundId, amount, currency, reason }, context) => {
    const { payments: known, refunds } = await loadOrder(handler, orderId, merchant_id);
    const applied = known.filter(({ status }) => status === 'applied').map(({ paymentId }) => paymentId);
    const isRepeat = refunds.some((refund) => refund.orderRefundId === orderRefundId);
    const { payments: refundable } =
      isRepeat || applied.length === 0 ? { payments: [] } : await payments.refundable(applied, context);
    const command = { type: 'RefundOrder', orderRefundId, amount, currency, reason, refundable, at: now() } as const;
    const { order } = await commands.run(orderId, command, context);
    const refund = order.refunds.find((each) => each.orderRefundId === orderRefundId);
    if (!refund) throw new AppError('internal_error', `${orderId} lacks its refund ${orderRefundId}`);
    // The decision is recorded: a caller that sees an error might refund again.
    await payments
      .recordOrderRefund(orderRefundCallOf(refund), context)
      .catch((error: unknown) =>
        log.warn({ err: error, orderId, orderRefundId }, 'the call to payments failed: it gets the refund from Kafka'),
      );
    return orderRefundView(refund, order);
  };
