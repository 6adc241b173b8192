import {
  type ConfirmationCall,
  type FailureCall,
  paymentView,
  type RefundCall,
  type RegisteredPayment,
} from '@cpg/contracts';
import { AppError, isAppError } from '@cpg/core';
import type { CallContext, Logger } from '@cpg/runtime';
import { amountOf } from './amounts.ts';
import type { PaymentCommands } from './commands.ts';
import type { PaymentCommand } from './payment/payment.ts';
import type { TellOrder, Told } from './telling.ts';

/** What happens to a payment after it was received: recorded on its own stream first, then told to its order. Each may be repeated. */
export interface PaymentChanges {
  /** Its rail vouches for it. Throws `payment_conflict` once it failed. */
  readonly confirm: (paymentId: string, call: ConfirmationCall, context: CallContext) => Promise<RegisteredPayment>;
  /** Its rail dropped it, or took it back. Throws `payment_conflict` for an orphan and once all is refunded. */
  readonly fail: (paymentId: string, call: FailureCall, context: CallContext) => Promise<RegisteredPayment>;
  /** Its merchant gives back all that is left, or a part. Throws `not_found` for another merchant's, `nothing_to_refund`,
   *  `payment_conflict` for what is not settled or failed, `invalid_request` naming `amount`. */
  readonly refund: (paymentId: string, call: RefundCall, context: CallContext) => Promise<RegisteredPayment>;
}

export const paymentChanges = ({
  commands,
  tellOrder,
  now,
  log,
}: {
  commands: PaymentCommands;
  tellOrder: TellOrder;
  now: () => Date;
  log: Logger;
}): PaymentChanges => {
  const change = async (paymentId: string, command: PaymentCommand, context: CallContext, tell = tellOrder) => {
    const { payment, order } = await tell(await commands.run(paymentId, command, context), context);
    const { orderId, status } = payment;
    log.info({ paymentId, orderId, status, command: command.type, requestId: context.requestId }, 'payment changed');
    return { payment: paymentView(payment), order };
  };

  /** A refund is done once it is recorded: while orders is away it is told by Kafka, for a caller who heard of a failure might repeat it. */
  const tellIfThere: TellOrder = async (payment, context): Promise<Told> => {
    try {
      return await tellOrder(payment, context);
    } catch (error) {
      if (!isAppError(error, 'dependency_unavailable')) throw error;
      log.warn({ err: error, paymentId: payment.paymentId }, 'the order will hear of the refund from Kafka');
      return { payment, order: null };
    }
  };

  return {
    confirm: (paymentId, { confirmations }, context) =>
      change(paymentId, { type: 'ConfirmPayment', confirmations, at: now() }, context),
    fail: (paymentId, { failure_reason: failureReason }, context) =>
      change(paymentId, { type: 'FailPayment', failureReason, at: now() }, context),
    refund: async (paymentId, { merchant_id, refund_id: refundId, amount, reason }, context) => {
      const { merchantId, currency } = await commands.find(paymentId);
      if (merchantId !== merchant_id) throw new AppError('not_found', 'there is no such payment');
      const amountMinor = amount === undefined ? undefined : amountOf({ amount, currency });
      const command: PaymentCommand = { type: 'RefundPayment', refundId, amountMinor, reason, at: now() };
      return change(paymentId, command, context, tellIfThere);
    },
  };
};
