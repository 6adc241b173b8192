import type { OrderEvent } from '@cpg/contracts';
import { AppError, type Decider, unreachable } from '@cpg/core';
import type { CreateOrder, OrderCommand } from './command.ts';
import { advanceTime, expire, plusMinutes, renew } from './deadline.ts';
import { capture, failPayment, offer, refundPayment, settle } from './money.ts';
import { evolve, type ExistingOrder, exists, isOpen, MAX_CHANGES, type Order, then } from './state.ts';

const decide = (command: OrderCommand, order: Order): OrderEvent[] => {
  if (command.type === 'CreateOrder') return order.status === 'none' ? [created(command)] : [];
  if (!exists(order)) throw new AppError('not_found', 'there is no such order');
  const at = command.at.toISOString();
  switch (command.type) {
    case 'InstructOrder': {
      if (order.status !== 'initialized') return [];
      const { instructions } = command;
      return then(
        order,
        [
          {
            type: 'OrderInstructed',
            data: { instructions, status: 'awaiting_payment', reason: 'instructions_ready', at },
          },
        ],
        (ready) => settle(ready, at),
      );
    }
    case 'OfferPayment':
      return offer(command, order);
    case 'FailPayment':
      return failPayment(command, order);
    case 'RefundPayment':
      return refundPayment(command, order);
    case 'CapturePayments':
      return capture(order, at);
    case 'CancelOrder':
      return cancel(order, at);
    case 'UpdateOrder':
      return update(command, order);
    case 'RenewOrder':
      return renew(command, order);
    case 'ExpireOrder':
      return expire(order, command.at);
    case 'AdvanceTime':
      refuseTooMany(order);
      return advanceTime(command, order);
    case 'DeleteOrder':
      return remove(order, at);
    default:
      return unreachable(command);
  }
};

const created = ({ type: _, totalMinor, at, ...data }: CreateOrder): OrderEvent => ({
  type: 'OrderCreated',
  data: {
    ...data,
    totalMinor: String(totalMinor),
    expiresAt: plusMinutes(at, data.expirationMinutes),
    ...(data.instructions
      ? { status: 'awaiting_payment', reason: 'created' }
      : { status: 'initialized', reason: 'awaiting_instructions' }),
    at: at.toISOString(),
  },
});

const cancel = (order: ExistingOrder, at: string): OrderEvent[] => {
  if (order.status === 'canceled') return [];
  if (!order.capabilities.can_cancel)
    throw new AppError('cancel_not_allowed', 'the order was created with can_cancel false');
  if (!isOpen(order)) throw new AppError('order_state_conflict', `an order that is ${order.status} cannot be canceled`);
  const orphanedPaymentIds = order.payments
    .filter((payment) => payment.status === 'applied' || (payment.status === 'received' && payment.confirmedAt))
    .map(({ paymentId }) => paymentId);
  return [
    { type: 'OrderCanceled', data: { orphanedPaymentIds, status: 'canceled', reason: 'canceled_by_merchant', at } },
  ];
};

const update = (
  { metadata, expirationMinutes, at: now }: Extract<OrderCommand, { type: 'UpdateOrder' }>,
  order: ExistingOrder,
): OrderEvent[] => {
  if (!order.capabilities.can_update)
    throw new AppError('update_not_allowed', 'the order was created with can_update false');
  refuseTooMany(order);
  if (expirationMinutes !== undefined && !isOpen(order))
    throw new AppError('order_state_conflict', `the deadline of an order that is ${order.status} cannot be moved`);
  const deadline = expirationMinutes !== undefined && {
    expirationMinutes,
    expiresAt: plusMinutes(now, expirationMinutes),
  };
  return [{ type: 'OrderUpdated', data: { ...(metadata && { metadata }), ...deadline, at: now.toISOString() } }];
};

const refuseTooMany = ({ changes }: ExistingOrder): void => {
  if (changes >= MAX_CHANGES)
    throw new AppError('update_not_allowed', `an order is changed ${MAX_CHANGES} times at most: create a new one`);
};

const remove = (order: ExistingOrder, at: string): OrderEvent[] => {
  const unsettled = order.payments.some(
    (payment) =>
      payment.status === 'received' || (payment.status === 'orphan' && payment.refundedMinor < payment.amountMinor),
  );
  if (order.status === 'partially_paid' || unsettled) {
    throw new AppError(
      'order_has_unsettled_funds',
      'the order holds money that is neither settled nor refunded: capture, cancel or refund it first',
    );
  }
  return [{ type: 'OrderDeleted', data: { reason: 'deleted_by_merchant', at } }];
};

export const orderDecider: Decider<Order, OrderCommand, OrderEvent> = { initial: { status: 'none' }, decide, evolve };
