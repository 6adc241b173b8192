import { type OfferedPayment, type Payment, type PaymentMessage, type PaymentOutcome, toMinor } from '@cpg/contracts';
import { isAppError } from '@cpg/core';
import type { CallContext } from '@cpg/runtime';
import type { PaymentsClient } from '../clients/payments.ts';
import type { OrderCommands } from '../commands.ts';
import type { OrderCommand } from '../order/command.ts';

/** What this reaction wants of `payments.v1`. */
export const PAYMENT_NEWS = ['payment.received', 'payment.confirmed', 'payment.failed', 'payment.refunded'];

/** Drives again what the payments service told us directly, so that a crash in between only delays it. Every command is idempotent. */
export const reactToPayments =
  ({ commands, payments, now }: { commands: OrderCommands; payments: PaymentsClient; now: () => Date }) =>
  async (messages: readonly PaymentMessage[]): Promise<void> => {
    for (const message of messages) {
      const command = commandOf(message, now());
      if (!command) continue;
      const context: CallContext = {
        actor: 'service:orders',
        requestId: message.id,
        correlationId: message.correlationid,
      };
      try {
        await commands.run(message.orderid, command, context, { causationId: message.id });
      } catch (error) {
        if (!isAppError(error, 'not_found')) throw error;
        if (command.type === 'OfferPayment' && command.confirmed)
          await payments.recordOutcomes([withoutOrder(message)], context);
      }
    }
  };

/** The order is unknown or deleted: its money is an orphan. */
const withoutOrder = (message: PaymentMessage): PaymentOutcome => ({
  status: 'orphan',
  payment_id: message.subject,
  orphan_reason: 'unknown_order',
  at: message.time,
});

const commandOf = (message: PaymentMessage, at: Date): OrderCommand | null => {
  const payment = offeredOf(message.data.resource);
  switch (message.type) {
    case 'payment.received': {
      const { seenAt, confirmed } = message.data.change;
      const offered = { ...payment, seenAt, ...(confirmed && { confirmedAt: message.time }) };
      return { type: 'OfferPayment', payment: offered, confirmed, at };
    }
    case 'payment.confirmed':
      return { type: 'OfferPayment', payment: { ...payment, confirmedAt: message.time }, confirmed: true, at };
    case 'payment.failed':
      return {
        type: 'FailPayment',
        payment,
        failureReason: message.data.change.failureReason,
        at: new Date(message.time),
      };
    case 'payment.refunded': {
      const { refundId, refundedTotalMinor } = message.data.change;
      return {
        type: 'RefundPayment',
        paymentId: payment.paymentId,
        refundId,
        refundedTotalMinor: BigInt(refundedTotalMinor),
        at: new Date(message.time),
      };
    }
    default:
      return null;
  }
};

const offeredOf = (payment: Payment): OfferedPayment => ({
  paymentId: payment.id,
  rail: payment.payment_rail,
  providerId: payment.provider_id,
  currency: payment.currency,
  amountMinor: String(toMinor(payment.paid_amount, payment.currency)),
  feeMinor: String(toMinor(payment.fee_amount, payment.currency)),
  txHash: payment.tx_hash,
  confirmations: payment.confirmations,
  metadata: payment.metadata,
  seenAt: payment.created_at,
  receivedAt: payment.created_at,
});
