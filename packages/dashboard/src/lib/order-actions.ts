import { compareAmounts, subtractAmounts } from './amounts.ts';

/** What of an order decides what may be done with it. */
interface ActableOrder {
  readonly status: string;
  readonly total_amount: string;
  readonly remaining_amount: string;
  readonly shortfall_amount?: string | undefined;
  readonly capabilities: { readonly can_cancel: boolean; readonly can_update: boolean };
  readonly payments: readonly { readonly status: string; readonly applied_amount?: string | undefined }[];
}

export type OrderAction = 'cancel' | 'capture' | 'accept' | 'extend' | 'refund' | 'delete';

const OPEN = ['initialized', 'awaiting_payment', 'partially_paid'];

export const isOpen = ({ status }: { readonly status: string }): boolean => OPEN.includes(status);

/** The actions that make sense for an order now. The gateway decides: it refuses with a reason. */
export const actionsOf = (order: ActableOrder): OrderAction[] => {
  const { status, capabilities, payments } = order;
  const isApplied = payments.some((payment) => payment.status === 'applied');
  const isHeld = payments.some((payment) => payment.status === 'received' || payment.status === 'orphan');
  const possible: [OrderAction, boolean][] = [
    ['capture', isHeld && status !== 'canceled'],
    ['accept', isApplied && status !== 'paid' && status !== 'canceled'],
    ['extend', isOpen(order) && capabilities.can_update],
    ['refund', isApplied && !isOpen(order)],
    ['cancel', isOpen(order) && capabilities.can_cancel],
    ['delete', true],
  ];
  return possible.flatMap(([action, isPossible]) => (isPossible ? [action] : []));
};

/** What counts for the order: its total without what is missing and what remains. Never below zero. */
export const appliedAmount = ({ total_amount, remaining_amount, shortfall_amount = '0' }: ActableOrder): string => {
  const applied = subtractAmounts(subtractAmounts(total_amount, remaining_amount), shortfall_amount);
  return compareAmounts(applied, '0') < 0 ? '0' : applied;
};

/** The reasons for which a capture leaves an orphan as it is. */
const NEVER_APPLIED = ['canceled', 'wrong_currency', 'before_order', 'unknown_order', 'unknown_address'];

/** Whether a capture of its order can apply a payment. */
export const mayBeApplied = (payment: {
  readonly status: string;
  readonly order_id: string;
  readonly orphan_reason?: string | undefined;
}): boolean =>
  payment.status === 'orphan' &&
  payment.order_id.startsWith('ord_') &&
  !NEVER_APPLIED.includes(payment.orphan_reason ?? '');
