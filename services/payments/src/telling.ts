import type { OfferedPayment, Order, OrderAndOutcomes, PaymentOutcome } from '@cpg/contracts';
import type { CallContext } from '@cpg/runtime';
import type { OrdersClient } from './clients/orders.ts';
import type { PaymentCommands } from './commands.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from './payment/state.ts';

export interface Told {
  /** The payment once it has recorded what its order decided. */
  readonly payment: ExistingPayment;
  /** Null when there is no such order. */
  readonly order: Order | null;
}

/** Tells an order how its payment stands, and records what the order decides on that. May be repeated: the order says again what it
 *  decided, so an answer that was lost is learnt the next time. Kafka drives the same step where this one never comes. */
export type TellOrder = (payment: ExistingPayment, context: CallContext) => Promise<Told>;

export const orderTeller = ({
  commands,
  orders,
  now,
}: {
  commands: Pick<PaymentCommands, 'recordOutcomes'>;
  orders: OrdersClient;
  now: () => Date;
}): TellOrder => {
  const tell = async (payment: ExistingPayment, context: CallContext): Promise<OrderAndOutcomes | null> => {
    const {
      merchantId,
      orderId,
      paymentId,
      status,
      confirmedAt,
      failureReason,
      refundedMinor,
      updatedAt: at,
    } = payment;
    if (merchantId === UNCLAIMED_MERCHANT) return null;
    if (status === 'failed')
      return orders.fail(orderId, { payment: offered(payment), failure_reason: failureReason!, at }, context);
    if (refundedMinor > 0n) {
      const refund = { refund_id: payment.refundIds.at(-1)!, refunded_total_minor: String(refundedMinor), at };
      return orders.refund(orderId, paymentId, refund, context);
    }
    return orders.offer(orderId, { payment: offered(payment), confirmed: confirmedAt !== undefined }, context);
  };

  return async (payment, context) => {
    const told = await tell(payment, context);
    const outcomes = told ? told.outcomes : withoutOrder(payment, now());
    const settled = await commands.recordOutcomes(outcomes, context);
    const own = settled.find(({ paymentId }) => paymentId === payment.paymentId);
    return { payment: own ?? payment, order: told?.order ?? null };
  };
};

const offered = (payment: ExistingPayment): OfferedPayment => ({
  paymentId: payment.paymentId,
  rail: payment.rail,
  providerId: payment.providerId,
  currency: payment.currency,
  amountMinor: String(payment.amountMinor),
  feeMinor: String(payment.feeMinor),
  txHash: payment.txHash,
  confirmations: payment.confirmations,
  metadata: payment.metadata,
  seenAt: payment.seenAt,
  confirmedAt: payment.confirmedAt,
  receivedAt: payment.createdAt,
});

const withoutOrder = ({ paymentId, status, confirmedAt }: ExistingPayment, at: Date): PaymentOutcome[] =>
  status === 'received' && confirmedAt !== undefined
    ? [{ status: 'orphan', payment_id: paymentId, orphan_reason: 'unknown_order', at: at.toISOString() }]
    : [];
