import {
  type OfferedPayment,
  type OrderAndOutcomes,
  OrderId,
  type Payment as PaymentResource,
  type PaymentOutcome,
  paymentView,
  type RegisteredPayment,
  type RegisterPaymentCall,
  toMinor,
} from '@cpg/contracts';
import { type CallContext, invalid, type Logger } from '@cpg/runtime';
import type { OrdersClient } from './clients/orders.ts';
import type { PaymentCommands } from './commands.ts';
import { feeOf, type FeeSchedule } from './payment/fees.ts';
import { paymentIdOf } from './payment/identity.ts';
import { type ExistingPayment, UNCLAIMED_MERCHANT } from './payment/state.ts';

export interface MatchingOptions {
  readonly commands: PaymentCommands;
  readonly orders: OrdersClient;
  readonly fees: FeeSchedule;
  readonly now: () => Date;
  readonly log: Logger;
}

export type RegisterPayment = (call: RegisterPaymentCall, context: CallContext) => Promise<RegisteredPayment>;

/** Money that a rail saw meets its order: it is recorded on a stream of its own, offered to the order, and what the order decides is
 *  recorded. Every step may be repeated, so the same call again goes on where an earlier one stopped; once the first step is durable,
 *  Kafka drives the others too. Throws `payment_conflict` for the same money with another order, amount or currency. */
export const registerPayments = ({ commands, orders, fees, now, log }: MatchingOptions): RegisterPayment => {
  const receive = async (call: RegisterPaymentCall, context: CallContext): Promise<ExistingPayment> => {
    const { order_id: orderId, rail, provider_id: providerId, currency, confirmed, metadata } = call;
    const paymentId = paymentIdOf(rail, providerId);
    const amountMinor = amountOf(call);
    const merchantId = await merchantOf(orderId, context);
    const terms = { merchantId, rail, currency, amountMinor };
    const at = now();
    return commands.run(
      paymentId,
      {
        type: 'ReceivePayment',
        ...terms,
        paymentId,
        orderId,
        providerId,
        feeMinor: feeOf(fees, terms),
        feeSchedule: fees.version,
        confirmed,
        ...(call.tx_hash !== undefined && { txHash: call.tx_hash }),
        ...(metadata && { metadata }),
        seenAt: at,
        at,
      },
      context,
      { fresh: true },
    );
  };

  const merchantOf = async (orderId: string, context: CallContext): Promise<string> => {
    const order = OrderId.safeParse(orderId).success ? await orders.summary(orderId, context) : null;
    return order?.merchant_id ?? UNCLAIMED_MERCHANT;
  };

  /** Tells the order how its payment stands. Null when there is no such order. */
  const tellOrder = async (payment: ExistingPayment, context: CallContext): Promise<OrderAndOutcomes | null> => {
    const { merchantId, orderId, paymentId, status, confirmed, updatedAt: at } = payment;
    if (merchantId === UNCLAIMED_MERCHANT) return null;
    switch (status) {
      case 'failed':
        return orders.fail(orderId, { payment: offered(payment), failure_reason: payment.failureReason!, at }, context);
      case 'refunded': {
        const refund = {
          refund_id: payment.refundIds.at(-1)!,
          refunded_total_minor: String(payment.refundedMinor),
          at,
        };
        return orders.refund(orderId, paymentId, refund, context);
      }
      default:
        return orders.offer(orderId, { payment: offered(payment), confirmed }, context);
    }
  };

  return async (call, context) => {
    const received = await receive(call, context);
    const told = await tellOrder(received, context);
    const outcomes = told ? outcomesFor(received, told) : noOrdersOutcome(received, now());
    const settled = await commands.recordOutcomes(outcomes, context);
    const payment = settled.find(({ paymentId }) => paymentId === received.paymentId) ?? received;
    const { paymentId, orderId, status } = payment;
    log.info({ paymentId, orderId, status, requestId: context.requestId }, 'payment registered');
    return { payment: paymentView(payment), order: told?.order ?? null };
  };
};

const amountOf = ({ amount, currency }: RegisterPaymentCall): bigint => {
  const refused = (message: string) => invalid([{ path: 'amount', message }]);
  let minor: bigint;
  try {
    minor = toMinor(amount, currency);
  } catch (error) {
    throw refused((error as Error).message);
  }
  if (minor === 0n) throw refused('must be positive');
  return minor;
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
  receivedAt: payment.createdAt,
});

/** What the call decided, and what was decided of this payment before: an answer may have been lost. */
const outcomesFor = ({ paymentId }: ExistingPayment, { order, outcomes }: OrderAndOutcomes): PaymentOutcome[] => {
  if (outcomes.some(({ payment_id }) => payment_id === paymentId)) return outcomes;
  const known = order.payments.find(({ id }) => id === paymentId);
  return known ? [...outcomes, standing(known)] : outcomes;
};

const standing = (payment: PaymentResource): PaymentOutcome => {
  const { id: payment_id, status, currency, updated_at: at } = payment;
  const minor = (amount = '0') => String(toMinor(amount, currency));
  switch (status) {
    case 'applied': {
      const { applied_amount, unapplied_amount } = payment;
      return { status, payment_id, applied_minor: minor(applied_amount), unapplied_minor: minor(unapplied_amount), at };
    }
    case 'orphan':
      return { status, payment_id, orphan_reason: payment.orphan_reason!, at };
    default:
      return { status, payment_id };
  }
};

const noOrdersOutcome = ({ paymentId, status, confirmed }: ExistingPayment, at: Date): PaymentOutcome[] =>
  status === 'received' && confirmed
    ? [{ status: 'orphan', payment_id: paymentId, orphan_reason: 'unknown_order', at: at.toISOString() }]
    : [];
