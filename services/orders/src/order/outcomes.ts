import type { OrderEvent, PaymentOutcome, PaymentState } from '@cpg/contracts';
import { ignoreUnknownEvent } from '@cpg/event-sourcing/decider';
import type { OrderCommand } from './command.ts';
import type { ExistingOrder } from './state.ts';

/** The outcomes of the payments that these events changed, from the order after them. The payment that the command
 *  names is always included, even if nothing changed: an earlier answer may have been lost. */
export const outcomesOf = (
  order: ExistingOrder,
  command: OrderCommand,
  events: readonly OrderEvent[],
): PaymentOutcome[] => {
  const changed = new Set(events.flatMap(changedPayments));
  if ('payment' in command) changed.add(command.payment.paymentId);
  if ('paymentId' in command) changed.add(command.paymentId);
  const known = order.payments.filter(({ paymentId }) => changed.has(paymentId)).map(outcomeOf);
  return [...known, ...unrecordedPaymentOf(order, command)];
};

/** The outcome of a payment on its order, for the payment's own stream. */
export const outcomeOf = ({ paymentId, status, updatedAt, sighting, ...payment }: PaymentState): PaymentOutcome => {
  const payment_id = paymentId;
  // A repeated answer has the time of the decision, also if the payment changed since.
  const at = status === 'applied' ? payment.appliedAt! : updatedAt;
  const when = { ...(sighting !== undefined && { sighting }), at };
  switch (status) {
    case 'applied': {
      const { appliedMinor, unappliedMinor, smallestPayableMinor: smallest } = payment;
      const [applied_minor, unapplied_minor] = [String(appliedMinor), String(unappliedMinor)];
      const smallest_payable = smallest !== undefined && { smallest_payable_minor: String(smallest) };
      return { status, payment_id, applied_minor, unapplied_minor, ...smallest_payable, ...when };
    }
    case 'orphan':
      return { status, payment_id, orphan_reason: payment.orphanReason!, ...when };
    default:
      return { status, payment_id };
  }
};

/** An offered payment that the order does not record, because it has the maximum number of payments. */
const unrecordedPaymentOf = (order: ExistingOrder, command: OrderCommand): PaymentOutcome[] => {
  if (command.type !== 'OfferPayment' || !command.confirmed) return [];
  const { paymentId: payment_id, sighting } = command.payment;
  if (order.payments.some(({ paymentId }) => paymentId === payment_id)) return [];
  return [{ status: 'orphan', payment_id, orphan_reason: 'too_many_payments', sighting, at: command.at.toISOString() }];
};

const changedPayments = (event: OrderEvent): string[] => {
  switch (event.type) {
    case 'OrderPaymentsApplied':
      return event.data.allocations.map(({ paymentId }) => paymentId);
    case 'OrderPaymentsOrphaned':
      return event.data.paymentIds;
    case 'OrderExpired':
    case 'OrderCanceled':
      return event.data.orphanedPaymentIds;
    case 'OrderCreated':
    case 'OrderInstructed':
    case 'OrderPaymentReceived':
    case 'OrderPaymentConfirmed':
    case 'OrderPaymentBlockChanged':
    case 'OrderPaymentFailed':
    case 'OrderPaymentReinstated':
    case 'OrderPaymentRefunded':
    case 'OrderAccepted':
    case 'OrderRefunded':
    case 'OrderPaid':
    case 'OrderUpdated':
    case 'OrderRenewed':
    case 'OrderTimeAdvanced':
    case 'OrderDeleted':
      return [];
    default:
      return ignoreUnknownEvent(event, []);
  }
};
