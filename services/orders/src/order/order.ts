import {
  AppError,
  dueBackMinor,
  fromMinor,
  laterOf,
  type OfferedPayment,
  type OrderEvent,
  type PaymentState,
  unreachable,
} from '@cpg/contracts';
import type { Decider } from '@cpg/event-sourcing/decider';
import { accept, applyHeldPayments, canBeCaptured, capture, orphanUnfit } from './apply-payments.ts';
import type { CommandOf, OrderCommand } from './command.ts';
import { advanceTime, earlierOf, expire, plusMinutes, renew } from './deadline.ts';
import { evolve, followedBy } from './evolve.ts';
import { offerPayment } from './offer-payment.ts';
import { refundOrder } from './refund-order.ts';
import { failPayment, refundPayment } from './reverse-payment.ts';
import { refuseSeenMoney } from './seen-money.ts';
import {
  countedMinor,
  type ExistingOrder,
  exists,
  isHeld,
  isOpen,
  isReturned,
  type Order,
  sightingsOf,
  takesPayments,
} from './state.ts';
import { refuseTooManyChanges, update } from './update-order.ts';

// The life of an order. Its status changes only here, and every change is recorded with a reason:
//
//   none -> initialized -> awaiting_payment           CreateOrder, InstructOrder
//   awaiting_payment -> partially_paid -> paid        OfferPayment, CapturePayments
//   partially paid, reversed -> paid                 AcceptOrder
//   open -> expired | partially_paid_expired          ExpireOrder; RenewOrder keeps the order open with new rates
//   open -> canceled                                  CancelOrder
//   expired -> paid                                   OfferPayment of a payment seen in time, CapturePayments
//   paid -> reversed -> paid                          FailPayment, RefundPayment; OfferPayment
//   any, without unsettled funds -> deleted           DeleteOrder
//
// docs/order-states.md lists every transition. `open` is initialized, awaiting_payment or partially_paid.

const decide = (command: OrderCommand, order: Order): OrderEvent[] => {
  if (command.type === 'CreateOrder') return order.status === 'none' ? [created(command)] : [];
  if (!exists(order)) throw new AppError('not_found', 'there is no such order');
  const at = command.at.toISOString();
  switch (command.type) {
    case 'InstructOrder':
      return instruct(command, order);
    case 'OfferPayment':
      return offerPayment({ ...command, payment: seenBy(command.payment, at) }, order);
    case 'FailPayment':
      return failPayment({ ...command, payment: seenBy(command.payment, at) }, order);
    case 'RefundPayment':
      return refundPayment(command, order);
    case 'RefundOrder':
      return refundOrder(command, order);
    case 'CapturePayments':
      return capture(command, order);
    case 'AcceptOrder':
      return accept(command, order);
    case 'CancelOrder':
      return cancel(command, order);
    case 'UpdateOrder':
      return update(command, order);
    case 'RenewOrder':
      return renew(command, order);
    case 'ExpireOrder':
      return expire(order, command.at);
    case 'AdvanceTime':
      refuseTooManyChanges(order);
      return advanceTime(command, order);
    case 'DeleteOrder':
      return remove(order, at);
    default:
      return unreachable(command);
  }
};

/** Nothing is seen in the future: the clock of payments may be ahead, and money would seem to miss the deadline. */
const seenBy = (payment: OfferedPayment, at: string): OfferedPayment => ({
  ...payment,
  seenAt: earlierOf(payment.seenAt, at),
});

/** Records the events of a command later than every event before, by a millisecond if the clock is not: no two commands
 *  may lead to the same `updated_at`, because it names a state of the order. */
const decideLater = (command: OrderCommand, order: Order): OrderEvent[] => {
  const events = decide(command, order);
  if (!exists(order)) return events;
  const earliest = new Date(Date.parse(order.updatedAt) + 1).toISOString();
  return events.map((event) => ({
    ...event,
    data: { ...event.data, at: laterOf(event.data.at, earliest) },
  })) as OrderEvent[];
};

export const orderDecider: Decider<Order, OrderCommand, OrderEvent> = {
  initial: { status: 'none' },
  decide: decideLater,
  evolve,
};

const created = ({
  type: _,
  totalMinor,
  toleranceBps = 0,
  ratesExpireAt,
  at,
  ...data
}: CommandOf<'CreateOrder'>): OrderEvent => ({
  type: 'OrderCreated',
  data: {
    ...data,
    totalMinor: String(totalMinor),
    ...(toleranceBps > 0 && { toleranceBps }),
    expiresAt: plusMinutes(at, data.expirationMinutes),
    ...(ratesExpireAt && { ratesExpireAt }),
    ...(data.instructions
      ? { status: 'awaiting_payment', reason: 'created' }
      : { status: 'initialized', reason: 'awaiting_instructions' }),
    at: at.toISOString(),
  },
});

/** The order has its deposit instructions. Payments that were confirmed before may now be applied. */
const instruct = ({ instructions, at: now }: CommandOf<'InstructOrder'>, order: ExistingOrder): OrderEvent[] => {
  if (order.status !== 'initialized') return [];
  const at = now.toISOString();
  const instructed: OrderEvent = {
    type: 'OrderInstructed',
    data: { instructions, status: 'awaiting_payment', reason: 'instructions_ready', at },
  };
  // Held payments may have come from a provider that the order turns out not to show.
  return followedBy(order, [instructed], (current) =>
    followedBy(current, orphanUnfit(current, current.payments.filter(isHeld), at), (fitting) =>
      applyHeldPayments(fitting, at),
    ),
  );
};

const cancel = ({ ifUnpaid, at: now }: CommandOf<'CancelOrder'>, order: ExistingOrder): OrderEvent[] => {
  const at = now.toISOString();
  if (order.status === 'canceled') return [];
  if (!order.capabilities.can_cancel)
    throw new AppError('cancel_not_allowed', 'the order was created with can_cancel false: let it expire');
  if (ifUnpaid)
    refuseSeenMoney(
      order,
      ifUnpaid.recordedPayment,
      'it is not canceled. Wait for the payment, or cancel without if_unpaid',
    );
  if (!isOpen(order)) {
    const why = takesPayments(order) ? '' : ': it takes no more payments';
    const remedy = isReturned(order) ? 'Its payments are refunded already' : 'To give money back, refund its payments';
    throw new AppError('order_state_conflict', `an order that is ${order.status} cannot be canceled${why}. ${remedy}`);
  }
  const orphanedPaymentIds = order.payments
    .filter((payment) => payment.status === 'applied' || isHeld(payment))
    .map(({ paymentId }) => paymentId);
  const sightings = sightingsOf(order, orphanedPaymentIds);
  const data = { orphanedPaymentIds, ...sightings, status: 'canceled', reason: 'canceled_by_merchant', at } as const;
  return [{ type: 'OrderCanceled', data }];
};

const remove = (order: ExistingOrder, at: string): OrderEvent[] => {
  const unsettled = order.payments.filter((payment) => isUnsettled(order, payment));
  if (unsettled.length > 0) {
    const [first] = unsettled as [PaymentState];
    const more = unsettled.length > 1 ? `. ${unsettled.length} payments of the order are like this` : '';
    throw new AppError('order_has_unsettled_funds', `payment ${first.paymentId} ${remedyFor(order, first)}${more}`);
  }
  return [{ type: 'OrderDeleted', data: { reason: 'deleted_by_merchant', at } }];
};

const isUnsettled = (order: ExistingOrder, payment: PaymentState): boolean =>
  payment.status === 'received' ||
  dueBackMinor(payment) > 0n ||
  (order.status !== 'paid' && countedMinor(order, payment) > 0n);

/** Why the payment forbids to delete the order, and what ends that. */
const remedyFor = (order: ExistingOrder, payment: PaymentState): string => {
  const { status, confirmedAt } = payment;
  if (status === 'received' && confirmedAt === undefined)
    return 'is not confirmed yet: wait until it is confirmed or has failed';
  if (status === 'received')
    return isOpen(order) && order.capabilities.can_cancel
      ? 'is held until more money comes: capture the order, or cancel it and refund the payment'
      : 'is held until more money comes: capture the order';
  if (status === 'orphan' && canBeCaptured(order, payment))
    return 'is an orphan that is not refunded: capture the order, or refund the payment';
  if (status === 'orphan') return 'is an orphan that is not refunded: refund it';
  if (dueBackMinor(payment) > 0n) {
    const surplus = fromMinor(dueBackMinor(payment), payment.decimals);
    return `has a surplus of ${surplus} ${payment.currency} that is due back: refund it`;
  }
  return isOpen(order)
    ? 'is applied to an order that is not paid: wait until the order is paid, or refund the payment'
    : `is applied to an order that is ${order.status}: refund the payment`;
};
