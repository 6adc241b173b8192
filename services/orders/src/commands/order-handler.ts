import { AppError, type OrderEvent } from '@cpg/contracts';
import type { Decider } from '@cpg/event-sourcing/decider';
import { type CommandHandler, withFactLog } from '@cpg/event-sourcing';
import type { Logger } from '@cpg/platform';
import type { OrderCommand } from '../order/command.ts';
import { type ExistingOrder, exists, type Order } from '../order/state.ts';

export type OrderHandler = CommandHandler<Order, OrderCommand, OrderEvent>;

/** The log line of each event of an order. Money is logged by payments. */
const FACTS = {
  OrderCreated: 'order created',
  OrderPaid: 'order paid',
  OrderUpdated: 'order updated',
  OrderRenewed: 'order renewed',
  OrderExpired: 'order expired',
  OrderCanceled: 'order canceled',
  OrderDeleted: 'order deleted',
} as const;

export const withOrderLog = (handler: OrderHandler, log: Logger): OrderHandler =>
  withFactLog(handler, {
    sentences: FACTS,
    fieldsOf: (orderId, order) => {
      const known = order.status === 'deleted' ? order.lastState : order;
      return { orderId, merchantId: exists(known) ? known.merchantId : undefined };
    },
    log,
  });

/** Refuses what only the clock causes while it is not trusted: an expiry or a renewal cannot be taken back. Money is
 *  not judged by the time at which its address was assigned meanwhile. */
export const withTrustedClock = (
  decider: Decider<Order, OrderCommand, OrderEvent>,
  isClockPaused: () => boolean,
): Decider<Order, OrderCommand, OrderEvent> => ({
  ...decider,
  decide: (command, order) => {
    const events = decider.decide(command, order);
    if (events.some(({ type }) => type === 'OrderExpired' || type === 'OrderRenewed') && isClockPaused())
      throw new AppError('dependency_unavailable', 'the clock of the service is not trusted: try again later');
    return events.map((event) => (hasAssigned(event) && isClockPaused() ? doubted(event) : event));
  },
});

const hasAssigned = ({ type }: OrderEvent): boolean => type === 'OrderCreated' || type === 'OrderInstructed';

const doubted = (event: OrderEvent): OrderEvent =>
  ({ ...event, data: { ...event.data, clockDoubted: true } }) as OrderEvent;

/** The order from the stream cache or its stream. Throws `not_found` for an unknown or deleted order, and for another
 *  merchant's if
 *  `merchantId` is given. */
export const loadOrder = async (
  handler: OrderHandler,
  orderId: string,
  merchantId?: string,
): Promise<ExistingOrder> => {
  const order = existingOrder((await handler.load(orderId)).state);
  if (merchantId !== undefined && order.merchantId !== merchantId) throw notFound();
  return order;
};

/** Throws `not_found` for an order that was never created, or was deleted. */
export const existingOrder = (order: Order): ExistingOrder => {
  if (!exists(order)) throw notFound();
  return order;
};

export const notFound = () => new AppError('not_found', 'there is no such order');
