import {
  isAppError,
  type OfferedPayment,
  offeredPayment,
  OrderId,
  type Payment,
  type PaymentMessage,
  type PaymentOutcome,
} from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import type { PaymentsClient } from '../commands/payments-client.ts';
import type { OrderCommands } from '../commands/order-commands.ts';
import type { OrderCommand } from '../order/command.ts';
import { notFound } from '../commands/order-handler.ts';

/** Runs the commands that messages of payments ask for. Payments also calls orders directly; after a crash in between,
 *  the message makes sure that the order learns of the payment. Every command is idempotent. */
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
        // A payment can name an address, or what its provider wrote: that is no stream to ask the event store for.
        if (!OrderId.safeParse(message.orderid).success) throw notFound();
        await commands.run(message.orderid, command, context, { causationId: message.id });
      } catch (error) {
        if (!isAppError(error, 'not_found')) throw error;
        if (command.type === 'OfferPayment' && command.confirmed)
          await payments.recordOutcomes([orphanOf(message, command.payment)], context);
      }
    }
  };

/** The order is unknown or deleted, so the payment is an orphan. */
const orphanOf = (message: PaymentMessage, { sighting }: OfferedPayment): PaymentOutcome => ({
  status: 'orphan',
  payment_id: message.subject,
  orphan_reason: 'unknown_order',
  sighting,
  at: message.time,
});

const offerOf = (
  {
    seenAt,
    sighting,
    blockChanges,
  }: {
    readonly seenAt: string;
    readonly sighting?: number | undefined;
    readonly blockChanges?: number | undefined;
  },
  payment: Payment,
) => ({ payment, seen_at: seenAt, sighting, block_changes: blockChanges });

/** The command that a message asks for, by message type. Null for messages that orders does not need. */
const COMMANDS: {
  [T in PaymentMessage['type']]:
    ((message: Extract<PaymentMessage, { type: T }>, at: Date) => OrderCommand | null) | null;
} = {
  'payment.received': ({ time, data: { change, resource } }, at) => ({
    type: 'OfferPayment',
    payment: offeredPayment({
      payment: resource,
      seen_at: change.seenAt,
      confirmed_at: change.confirmed ? time : undefined,
    }),
    confirmed: change.confirmed,
    at,
  }),
  'payment.confirmed': ({ time, data: { change, resource } }, at) => ({
    type: 'OfferPayment',
    payment: offeredPayment({ ...offerOf(change, resource), confirmed_at: time }),
    confirmed: true,
    at,
  }),
  'payment.block_changed': ({ data: { change, resource } }, at) => ({
    type: 'OfferPayment',
    payment: offeredPayment(offerOf(change, resource)),
    confirmed: false,
    unconfirmed: change.unconfirmed,
    at,
  }),
  'payment.reinstated': ({ time, data: { change, resource } }, at) => ({
    type: 'OfferPayment',
    payment: offeredPayment({
      ...offerOf(change, resource),
      confirmed_at: change.confirmed ? time : undefined,
    }),
    confirmed: change.confirmed,
    at,
  }),
  'payment.failed': ({ data: { change, resource } }, at) => ({
    type: 'FailPayment',
    payment: offeredPayment(offerOf(change, resource)),
    failureReason: change.failureReason,
    failedAt: new Date(resource.updated_at),
    at,
  }),
  'payment.refunded': ({ data: { change, resource } }, at) => ({
    type: 'RefundPayment',
    paymentId: resource.id,
    refundId: change.refundId,
    refundedTotalMinor: BigInt(change.refundedTotalMinor),
    ...(change.orderRefundedTotalMinor !== undefined && {
      orderRefundedTotalMinor: BigInt(change.orderRefundedTotalMinor),
    }),
    ...(resource.applied_at !== undefined && { appliedAt: new Date(resource.applied_at) }),
    refundedAt: new Date(resource.updated_at),
    at,
  }),
  'payment.assigned': ({ data: { change, resource } }, at) =>
    change.orderId === undefined
      ? null
      : {
          type: 'OfferPayment',
          payment: offeredPayment({ ...offerOf(change, resource), confirmed_at: change.confirmedAt }),
          confirmed: true,
          at,
        },
  'payment.applied': null,
  'payment.orphaned': null,
  // A settled refund arrives as `payment.refunded`.
  'payment.refund_requested': null,
  'payment.refund_addressed': null,
  'payment.refund_sent': null,
  'payment.refund_reopened': null,
  'payment.refund_canceled': null,
  'payment.refund_claim_issued': null,
  'payment.refund_claimed': null,
};

/** The message types of `payments.v1` that orders handles. */
export const HANDLED_PAYMENT_MESSAGES = Object.entries(COMMANDS).flatMap(([type, command]) => (command ? [type] : []));

/** Null also for a message type that this version does not know. */
const commandOf = (message: PaymentMessage, at: Date): OrderCommand | null => {
  const command = COMMANDS[message.type] as
    ((message: PaymentMessage, at: Date) => OrderCommand | null) | null | undefined;
  return command ? command(message, at) : null;
};
