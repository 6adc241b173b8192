import {
  AppError,
  fromMinor,
  invalidRequest,
  type Metadata,
  METADATA_MAX_BYTES,
  type OrderEvent,
  outsideReferenceOf,
} from '@cpg/contracts';
import { applyHeldPayments } from './apply-payments.ts';
import type { CommandOf } from './command.ts';
import { earlierOf, moveDeadline, plusMinutes } from './deadline.ts';
import { followedBy, ratesUntil } from './evolve.ts';
import { refuseSeenMoney } from './seen-money.ts';
import { depositsOfOrder, type ExistingOrder, isOpen, MAX_CHANGES } from './state.ts';

/** Changes metadata, deadline and items. New items are priced with new rates; the order keeps its addresses. */
export const update = (command: CommandOf<'UpdateOrder'>, order: ExistingOrder): OrderEvent[] => {
  const { metadata, expirationMinutes, newItems, rateLockMaxMinutes, at: now } = command;
  if (!order.capabilities.can_update)
    throw new AppError('update_not_allowed', 'the order was created with can_update false: create a new order');
  refuseTooManyChanges(order);
  if (expirationMinutes !== undefined && !isOpen(order))
    throw new AppError(
      'order_state_conflict',
      `an order that is ${order.status} has no deadline to change: create a new order`,
    );
  const priced = newItems ? reprice(order, command, newItems) : {};
  const { rates, ratesExpireAt } = { ...order, ...priced };
  const deadline =
    expirationMinutes !== undefined &&
    moveDeadline({ ...order, rates, ratesExpireAt }, { minutes: expirationMinutes, rateLockMaxMinutes, now });
  const at = now.toISOString();
  const merged = metadata && { metadata: mergedMetadata(order.metadata ?? {}, metadata) };
  const locked = newItems && { rates: ratesUntil(rates, deadline ? deadline.ratesExpireAt : ratesExpireAt) };
  const updated: OrderEvent = { type: 'OrderUpdated', data: { ...merged, ...priced, ...locked, ...deadline, at } };
  // The locked rates now end later, so payments that were held as late may apply.
  return followedBy(order, [updated], (current) => (deadline ? applyHeldPayments(current, at) : []));
};

type NewItems = NonNullable<CommandOf<'UpdateOrder'>['newItems']>;

/** The items with their locked rates. Money counts at the terms that the order has when it learns of it: so they stay
 *  once money was seen (ADR 49). */
const reprice = (
  order: ExistingOrder,
  { expirationMinutes, rateLockMaxMinutes, at }: CommandOf<'UpdateOrder'>,
  { items, rates, totalMinor, recordedPayment }: NewItems,
): Omit<NewItems, 'totalMinor' | 'recordedPayment'> & { totalMinor: string; ratesExpireAt: string } => {
  const consequence = isOpen(order) ? 'Wait for the payment, or create' : `The order is ${order.status}: create`;
  refuseSeenMoney(order, recordedPayment, `its items stay. ${consequence} an order for the rest`);
  if (!isOpen(order))
    throw new AppError('order_state_conflict', `an order that is ${order.status} keeps its items: create a new order`);
  if (order.status === 'initialized')
    throw new AppError('order_state_conflict', 'the order has no deposit instructions yet: try again');
  if (expirationMinutes === undefined && at.toISOString() >= order.expiresAt)
    throw new AppError(
      'order_state_conflict',
      'the deadline of the order has passed: send expiration_minutes too, or create a new order',
    );
  refuseOutsidePage(order);
  refuseSmallTotal(order, totalMinor);
  const { expiresAt, capabilities } = order;
  const ratesExpireAt = capabilities.expiration_auto_renewal
    ? earlierOf(expiresAt, plusMinutes(at, rateLockMaxMinutes))
    : expiresAt;
  return { items, rates, totalMinor: String(totalMinor), ratesExpireAt };
};

/** The provider was told the first total, and its page asks for it. */
const refuseOutsidePage = ({ instructions }: ExistingOrder): void => {
  const outside = instructions.map(outsideReferenceOf).find((reference) => reference !== null);
  if (outside)
    throw new AppError(
      'update_not_allowed',
      `the payment page of ${outside.provider} shows the first total: cancel the order with if_unpaid, and create a new one`,
    );
};

/** Every address that the order shows has to be able to take the total. */
const refuseSmallTotal = (order: ExistingOrder, totalMinor: bigint): void => {
  for (const { network, smallestPayableMinor = '1' } of depositsOfOrder(order)) {
    if (totalMinor >= BigInt(smallestPayableMinor)) continue;
    const [total, least] = [totalMinor, BigInt(smallestPayableMinor)].map((minor) => fromMinor(minor, order.decimals));
    const message = `the total is ${total} ${order.currency}, and the address of the order on ${network} takes at least ${least}: raise the total, or cancel the order and create a new one`;
    throw new AppError('amount_too_small', `items: ${message}`, { details: [{ path: 'items', message }] });
  }
};

const mergedMetadata = (current: Metadata, changes: Metadata): Metadata => {
  const merged = Object.fromEntries(
    Object.entries({ ...current, ...changes }).filter(([name]) => changes[name] !== null),
  );
  const bytes = Buffer.byteLength(JSON.stringify(merged));
  if (bytes > METADATA_MAX_BYTES)
    throw invalidRequest([
      {
        path: 'metadata',
        message: `has ${bytes} bytes of JSON after the merge. The limit is ${METADATA_MAX_BYTES}. Set names to null to remove them`,
      },
    ]);
  return merged;
};

export const refuseTooManyChanges = ({ changes }: ExistingOrder): void => {
  if (changes >= MAX_CHANGES)
    throw new AppError(
      'update_not_allowed',
      `an order can be changed at most ${MAX_CHANGES} times: create a new order`,
    );
};
