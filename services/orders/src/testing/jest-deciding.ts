import type { OrderEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { givenFor } from '@cpg/event-sourcing/testing';
import type { OrderCommand } from '../order/command.ts';
import { orderDecider } from '../order/order.ts';
import type { ExistingOrder, Order } from '../order/state.ts';
import { minutesAfterNoon, NOON } from './orders.ts';

export const given = givenFor(orderDecider);

/** The state that commands lead to. */
export const after = (...commands: OrderCommand[]): Order =>
  commands.reduce<Order>(
    (order, command) => fold(orderDecider, order, orderDecider.decide(command, order)),
    orderDecider.initial,
  );

export const existing = (order: Order): ExistingOrder => order as ExistingOrder;
export const statuses = (order: Order) => existing(order).payments.map((each) => each.status);

/** The events that commands lead to: a past for given(). */
export const past = (...commands: OrderCommand[]): OrderEvent[] => {
  let order = orderDecider.initial;
  return commands.flatMap((command) => {
    const events = orderDecider.decide(command, order);
    order = fold(orderDecider, order, events);
    return events;
  });
};

export const expireAt = (at: Date): OrderCommand => ({ type: 'ExpireOrder', at });
export const dueAt = minutesAfterNoon(60);
export const cancel: OrderCommand = { type: 'CancelOrder', at: NOON };
export const capture: OrderCommand = { type: 'CapturePayments', at: NOON };
export const remove: OrderCommand = { type: 'DeleteOrder', at: NOON };
