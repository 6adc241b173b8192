import type { AssetTable } from '@cpg/assets';
import {
  AppError,
  type ConfirmationCall,
  type FailureCall,
  parsePositiveAmount,
  type RefundCall,
  type RegisteredPayment,
} from '@cpg/contracts';
import { afterRecording, type HandleOptions } from '@cpg/event-sourcing';
import type { CallContext, Logger } from '@cpg/platform';

import type { PaymentCommands } from './commands.ts';
import type { NotifyOrder } from './notify-order.ts';
import { checkedRefundTransfer } from './refund-transfer.ts';
import type { PaymentCommand } from '../payment/command.ts';
import { type ExistingPayment, findRefund } from '../payment/state.ts';
import { paymentResource } from '../payment/view.ts';

/** Changes to a recorded payment. Each is recorded on the payment's stream first and then sent to its order. All are
 *  idempotent. */
export interface PaymentChanges {
  /** The rail confirms the payment. Throws `payment_conflict` once it failed. */
  readonly confirm: (paymentId: string, call: ConfirmationCall, context: CallContext) => Promise<RegisteredPayment>;
  /** The rail dropped or reversed the payment. Throws `payment_conflict` once everything is refunded. `beforeAppend`
   *  throws to keep a process from recording it that no longer reads the chain. */
  readonly fail: (
    paymentId: string,
    call: FailureCall,
    context: CallContext,
    options?: Pick<HandleOptions, 'beforeAppend'>,
  ) => Promise<RegisteredPayment>;
  /** The merchant records that it paid back an amount, all that is left, or else the surplus. The order decides what is
   *  surplus, so it is asked first: throws `dependency_unavailable` if it does not answer. Throws `not_found` for a
   *  payment of another merchant, `refund_amount_required`, `nothing_to_refund`, `refund_too_large`,
   *  `payment_conflict` in the status `received` or `failed`, `invalid_request` naming a field. */
  readonly refund: (paymentId: string, call: RefundCall, context: CallContext) => Promise<RegisteredPayment>;
  readonly changeRefund: RefundChange;
}

/** The chain shows the transfer of a requested refund, or does not any more. Resolves to the payment. */
export type RefundChange = (
  paymentId: string,
  command: Extract<PaymentCommand, { type: 'ReportRefund' | 'ReopenRefund' }>,
  context: CallContext,
  options: Pick<HandleOptions, 'beforeAppend'>,
) => Promise<ExistingPayment>;

/** The payment of the merchant, and the amount of a refund of it in minor units, if the call names one. The order decides
 *  what is surplus, so it is asked first where the refund is new: its decision is recorded on the payment. Throws
 *  `not_found`, `invalid_request` for the amount, and what notifying the order throws. */
export const findToRefund = async (
  paymentId: string,
  { merchant_id, refund_id, amount, what }: Pick<RefundCall, 'merchant_id' | 'refund_id' | 'amount' | 'what'>,
  { commands, notifyOrder }: { readonly commands: Pick<PaymentCommands, 'find'>; readonly notifyOrder: NotifyOrder },
  context: CallContext,
): Promise<{ readonly payment: ExistingPayment; readonly amountMinor: bigint | undefined }> => {
  const isOfSurplus = amount === undefined && what !== 'all';
  // A cached payment may lack the refund of another instance.
  const payment = await commands.find(paymentId, { fresh: isOfSurplus });
  if (payment.merchantId !== merchant_id) throw new AppError('not_found', 'the payment does not exist');
  const { currency, decimals } = payment;
  const amountMinor = amount === undefined ? undefined : parsePositiveAmount({ amount, currency }, decimals);
  if (isOfSurplus && !findRefund(payment, refund_id)) await notifyOrder(payment, context);
  return { payment, amountMinor };
};

export const paymentChanges = ({
  commands,
  notifyOrder,
  table,
  now,
  log,
}: {
  commands: PaymentCommands;
  notifyOrder: NotifyOrder;
  table: AssetTable;
  now: () => Date;
  log: Logger;
}): PaymentChanges => {
  const change = async (
    paymentId: string,
    command: PaymentCommand,
    context: CallContext,
    { notify = notifyOrder, ...options }: Pick<HandleOptions, 'beforeAppend'> & { readonly notify?: NotifyOrder } = {},
  ) => {
    const changed = await commands.run(paymentId, command, context, options);
    // The change is recorded: an outage from here on must not look as if nothing was done.
    const { payment, order } = await afterRecording(() => notify(changed, context));
    return { payment: paymentResource(payment), order };
  };

  // A recorded refund succeeds whatever orders answers, because a caller that sees an error might refund again.
  const notifyIfPossible: NotifyOrder = async (payment, context) => {
    try {
      return await notifyOrder(payment, context);
    } catch (error) {
      log.warn({ err: error, paymentId: payment.paymentId }, 'orders was not notified: Kafka brings it the refund');
      return { payment, order: null };
    }
  };

  return {
    confirm: (paymentId, { confirmations, block }, context) =>
      change(paymentId, { type: 'ConfirmPayment', confirmations, block, at: now() }, context),
    fail: (paymentId, { failure_reason: failureReason }, context, options) =>
      change(paymentId, { type: 'FailPayment', failureReason, at: now() }, context, options),
    refund: async (paymentId, call, context) => {
      const { refund_id: refundId, what, reason } = call;
      const { payment, amountMinor } = await findToRefund(paymentId, call, { commands, notifyOrder }, context);
      const transfer = checkedRefundTransfer(call, payment, table);
      const command: PaymentCommand = {
        type: 'RefundPayment',
        refundId,
        amountMinor,
        what,
        reason,
        ...transfer,
        at: now(),
      };
      return change(paymentId, command, context, { notify: notifyIfPossible });
    },
    changeRefund: async (paymentId, command, context, options) => {
      const changed = await commands.run(paymentId, command, context, options);
      if (command.type === 'ReportRefund' && command.isFinal)
        await afterRecording(() => notifyIfPossible(changed, context));
      return changed;
    },
  };
};
