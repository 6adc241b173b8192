import { randomBytes } from 'node:crypto';
import {
  decimalsIn,
  fromMinor,
  isAppError,
  MAX_ADVANCE_MINUTES,
  type Order,
  type Payment,
  toMinor,
} from '@cpg/contracts';
import type { CallContext } from '@cpg/platform';
import type { OrdersClient } from '../../api/orders/orders-client.ts';
import type { PaymentsClient } from '../../api/payments/payments-client.ts';

/** The buttons of a sandbox page that act as `/debug` does. */
export const ACTIONS = ['pay-all', 'pay-part', 'pay-more', 'pay-late', 'confirm', 'fail', 'advance', 'expire'] as const;
export type SandboxAction = (typeof ACTIONS)[number];

export const ADVANCE_MINUTES = 10;

/** The actions that the strip of a sandbox page offers. */
export interface Strip {
  readonly actions: readonly SandboxAction[];
  /** The network on which the test wallet can pay; null if it cannot. */
  readonly walletNetwork: string | null;
}

export interface SandboxServices {
  readonly orders: Pick<OrdersClient, 'advanceTime'>;
  readonly payments: Pick<PaymentsClient, 'register' | 'confirm' | 'fail'>;
  readonly now: () => Date;
}

/** The actions that the order allows now. */
export const possibleActions = (order: Order): SandboxAction[] => {
  const [takesMoney, isOpen] = [TAKES_MONEY.has(order.status), OPEN.has(order.status)];
  return ACTIONS.filter((action) => {
    if (action === 'confirm') return pendingOf(order).length > 0;
    if (action === 'fail') return reversibleOf(order) !== undefined;
    if (action === 'pay-late') return isOpen || EXPIRED.has(order.status);
    return action.startsWith('pay-') ? takesMoney : isOpen;
  });
};

/** Simulates a payer, a rail or the clock, as far as the order allows it. */
export const runSandboxAction = async (
  action: SandboxAction,
  order: Order,
  context: CallContext,
  { orders, payments, now }: SandboxServices,
): Promise<void> => {
  const decimals = decimalsIn(order.remaining_amount);
  const pay = (minor: bigint, confirmed = false) =>
    payments.register(
      {
        order_id: order.id,
        rail: order.deposit_instructions[0]?.rail ?? 'gateway_pay',
        provider_id: `debug_${randomBytes(16).toString('hex')}`,
        amount: fromMinor(minor, decimals),
        currency: order.currency,
        confirmed,
      },
      context,
    );
  const advance = (minutes: number) =>
    orders.advanceTime(order.id, { minutes: Math.min(minutes, MAX_ADVANCE_MINUTES) }, context);
  const remaining = toMinor(order.remaining_amount, decimals);
  if (!possibleActions(order).includes(action)) return;
  try {
    if (action === 'pay-all') await pay(remaining);
    if (action === 'pay-part') await pay((remaining + 1n) / 2n);
    if (action === 'pay-more') await pay(remaining + atLeastOne(remaining / 10n));
    if (action === 'confirm') for (const { id } of pendingOf(order)) await payments.confirm(id, {}, context);
    if (action === 'fail') await payments.fail(reversibleOf(order)!.id, {}, context);
    if (action === 'advance') await advance(ADVANCE_MINUTES);
    if (action === 'expire' || (action === 'pay-late' && OPEN.has(order.status)))
      await advance(minutesLeft(order, now()));
    if (action === 'pay-late') await pay(remaining, true);
  } catch (error) {
    // The order changed since its page was rendered. The page then shows what it allows now.
    if (!CONFLICTS.some((code) => isAppError(error, code))) throw error;
  }
};

const OPEN: ReadonlySet<Order['status']> = new Set(['awaiting_payment', 'partially_paid']);
const EXPIRED: ReadonlySet<Order['status']> = new Set(['expired', 'partially_paid_expired']);
const TAKES_MONEY: ReadonlySet<Order['status']> = new Set([...OPEN, 'reversed']);
const CONFLICTS = ['order_state_conflict', 'payment_conflict', 'concurrent_update'] as const;

const MINUTE_MS = 60_000;

const minutesLeft = ({ expiration_date }: Order, now: Date): number =>
  expiration_date === undefined
    ? MAX_ADVANCE_MINUTES
    : Math.max(1, Math.ceil((Date.parse(expiration_date) - now.getTime()) / MINUTE_MS));

/** Payments that wait for a confirmation, also those of a chain. */
const pendingOf = ({ payments }: Order): Payment[] => payments.filter(({ status }) => status === 'received');

/** The newest payment that its rail can drop or reverse. */
const reversibleOf = ({ payments }: Order): Payment | undefined =>
  payments.findLast(({ status }) => status === 'received' || status === 'applied');

const atLeastOne = (minor: bigint): bigint => (minor > 0n ? minor : 1n);
