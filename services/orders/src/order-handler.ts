import type { OrderEvent } from '@cpg/contracts';
import { AppError } from '@cpg/core';
import type { CommandHandler } from '@cpg/event-store';
import type { OrderCommand } from './order/command.ts';
import { type ExistingOrder, exists, type Order } from './order/state.ts';

export type OrderHandler = CommandHandler<Order, OrderCommand, OrderEvent>;

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
