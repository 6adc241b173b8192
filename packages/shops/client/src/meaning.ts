import type { Order, Payment } from '@cpg/sdk';

/** What an order of the gateway means to a shop.
 *  - `pending`: not paid yet, or staff has to decide first. The cart stays a cart.
 *  - `captured`: paid for good. Authorized and captured are one step: a chain has no money that is only reserved.
 *  - `canceled`: canceled or expired. It takes no more money.
 *  - `refunded`: all of it was paid back.
 *  - `reversed`: it was paid, and the money was taken back. */
export type ShopState = 'pending' | 'captured' | 'canceled' | 'refunded' | 'reversed';

export type DecisionKind = 'late' | 'second' | 'too_little' | 'too_much' | 'wrong_coin' | 'orphan' | 'reversed';

/** Money that somebody of the shop has to decide about. */
export interface Decision {
  /** The same for the same money, so that a shop shows it once. */
  readonly id: string;
  readonly kind: DecisionKind;
  /** One sentence for the shop's staff. */
  readonly text: string;
}

export interface Meaning {
  readonly state: ShopState;
  /** Whether money is on its way or has arrived: the cart must not change any more. */
  readonly isMoneySeen: boolean;
  /** The state as one sentence for the shop's staff. */
  readonly text: string;
  readonly decisions: readonly Decision[];
}

/** `more` are payments that name the order and that it does not show: it has too many. */
export const meaningOf = (order: Order, more: readonly Payment[] = []): Meaning => {
  const payments = [...order.payments, ...more.filter(({ id }) => !order.payments.some((known) => known.id === id))];
  return {
    ...stateOf(order),
    isMoneySeen: payments.some(({ status }) => status !== 'failed'),
    decisions: [...decisionsOnOrder(order), ...payments.flatMap((payment) => decisionOn(payment) ?? [])],
  };
};

const stateOf = (order: Order): Pick<Meaning, 'state' | 'text'> => {
  const rest = money(order.remaining_amount, order.currency);
  switch (order.status) {
    case 'initialized':
    case 'awaiting_payment': {
      const isSeen = order.payments.some(({ status }) => status === 'received');
      const text = isSeen ? 'A payment was seen and is not confirmed yet: wait.' : `Waits for a payment of ${rest}.`;
      return { state: 'pending', text };
    }
    case 'partially_paid':
      return { state: 'pending', text: `A part is paid, and ${rest} is missing: the payer can still pay it.` };
    case 'partially_paid_expired':
      return { state: 'pending', text: `The deadline passed, and ${rest} is missing: decide what to do.` };
    case 'paid':
      return { state: 'captured', text: paidText(order) };
    case 'expired':
      return { state: 'canceled', text: 'The deadline passed without a payment.' };
    case 'canceled':
      return { state: 'canceled', text: 'Canceled: it takes no more money.' };
    case 'reversed':
      return order.status_reason === 'payment_refunded'
        ? { state: 'refunded', text: 'All of the money was paid back.' }
        : { state: 'reversed', text: 'It was paid, and the payment was taken back: do not ship.' };
    default:
      return { state: 'pending', text: `The gateway says "${order.status as string}": update this plugin.` };
  }
};

const paidText = ({ total_amount, shortfall_amount, currency }: Order): string => {
  if (shortfall_amount === undefined) return `Paid: ${money(total_amount, currency)}.`;
  return `Paid: ${money(total_amount, currency)}, of which ${money(shortfall_amount, currency)} was let off.`;
};

const decisionsOnOrder = (order: Order): Decision[] => {
  const { status, status_reason, currency, total_amount, remaining_amount, paid_at } = order;
  if (status === 'partially_paid_expired') {
    const text = `Too little: ${money(remaining_amount, currency)} of ${money(total_amount, currency)} did not come before the deadline. Accept the order as paid, or pay back what came.`;
    return [{ id: `too_little:${remaining_amount}`, kind: 'too_little', text }];
  }
  if (status === 'reversed' && status_reason !== 'payment_refunded') {
    const text =
      'Reversed: the payment of this paid order was taken back. Do not ship; if it is shipped, ask the customer to pay again.';
    return [{ id: `reversed:${paid_at}`, kind: 'reversed', text }];
  }
  return [];
};

const decisionOn = (payment: Payment): Decision | undefined => {
  const { id, status, currency, asset_label, due_back_amount } = payment;
  if (due_back_amount === undefined) return undefined;
  const amount = money(due_back_amount, asset_label ?? currency);
  if (status === 'applied')
    return { id: `too_much:${id}`, kind: 'too_much', text: `Too much: pay ${amount} back to the customer.` };
  if (status !== 'orphan') return undefined;
  const [kind, text] = orphanText(payment.orphan_reason, amount);
  return { id: `${kind}:${id}`, kind, text };
};

const orphanText = (reason: Payment['orphan_reason'], amount: string): readonly [DecisionKind, string] => {
  switch (reason) {
    case 'late':
      return ['late', `Late: ${amount} came after the deadline. Capture the order in the gateway, or pay it back.`];
    case 'already_paid':
      return ['second', `Second payment: ${amount} came for an order that is paid. Pay it back.`];
    case 'insufficient':
      return [
        'too_little',
        `Too little: ${amount} does not cover the order. Capture it in the gateway, or pay it back.`,
      ];
    case 'wrong_currency':
      return ['wrong_coin', `Wrong coin: ${amount} does not pay this order. Pay it back.`];
    case 'wrong_network':
      return [
        'wrong_coin',
        `Wrong network: ${amount} came on a network that the order does not offer. Capture it in the gateway if you can use it there, or pay it back.`,
      ];
    case 'canceled':
      return ['orphan', `After the cancellation: ${amount} came for a canceled order. Pay it back.`];
    case 'before_order':
      return ['orphan', `${amount} is older than the order. Find out who sent it before you pay it back.`];
    case 'too_many_payments':
      return ['orphan', `${amount} came after too many payments. Pay it back.`];
    default:
      return ['orphan', `${amount} does not count for the order (${reason}). Look at it in the gateway.`];
  }
};

/** `12.500000` USDC as `12.5 USDC`. */
const money = (amount: string, currency: string): string => {
  if (!amount.includes('.')) return `${amount} ${currency}`;
  let end = amount.length;
  while (amount[end - 1] === '0') end -= 1;
  return `${amount.slice(0, amount[end - 1] === '.' ? end - 1 : end)} ${currency}`;
};
