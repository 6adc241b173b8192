import {
  decimalsIn,
  type Checkout,
  type CheckoutLine,
  type CheckoutPaymentState,
  type CheckoutState,
  formatDecimal,
  fromMinor,
  type Item,
  type ItemCurrency,
  type Modifier,
  multiply,
  type Order,
  parseDecimal,
  parseSigned,
  type Payment,
  type PaymentPageAddresses,
  type PaymentPageSettings,
  toMinor,
} from '@cpg/contracts';
import type { CheckoutOrder, UnsettledRefund } from './checkout-queries.ts';
import { accentPath } from './page-link.ts';
import { isOfPayer, isToAccept, payerPayments, type Depths } from './payer-payments.ts';
import { refundClaims } from './refund-claims.ts';
import { waysToPay } from './ways.ts';

/** The values from which the page of an order is rendered. */
export interface ShownOrder extends CheckoutOrder {
  readonly reference: string;
  readonly page: PaymentPageAddresses;
  readonly depths: Depths;
  readonly unsettledRefunds: readonly UnsettledRefund[];
}

/** The payer's view of an order. */
export const checkoutOf = (shown: ShownOrder, now: Date): Checkout => {
  const { reference, order, page, settings } = shown;
  const { currency, capabilities } = order;
  const payments = payerPayments(order, page.deposits, shown.depths);
  const decimals = decimalsIn(order.total_amount);
  const minor = (value: string) => toMinor(value, decimals);
  const sum = (values: readonly string[]) => values.reduce((total, value) => total + minor(value), 0n);
  // Amounts of other money may have more decimals.
  const counting = order.payments.filter(
    ({ currency: paidIn, credited, paid_amount }) =>
      paidIn === currency && credited !== false && decimalsIn(paid_amount) === decimals,
  );
  const own = payerPayments({ payments: counting }, page.deposits, shown.depths);
  const arrived = counting.filter((payment) => HAS_ARRIVED.has(payment.status) && isOfPayer(payment));
  const total = minor(order.total_amount);
  const applied = sum(
    order.payments.flatMap(({ status, applied_amount = '0' }) => (status === 'applied' ? [applied_amount] : [])),
  );
  const pending = sum(own.filter(({ state }) => state === 'seen').map(({ amount }) => amount));
  const remaining = atLeastZero(minor(order.deposit_instructions[0]?.amount ?? order.remaining_amount));
  const dueOf = ({ orphan_reason, due_back_amount = '0' }: Payment) =>
    isToAccept(orphan_reason) ? 0n : minor(due_back_amount);
  const dueBackById = new Map(counting.filter(isOfPayer).map((payment) => [payment.id, dueOf(payment)]));
  const deadline = order.expiration_date ?? order.updated_at ?? now.toISOString();
  const unpaid = minor(order.remaining_amount);
  const state = stateOf(order, { applied, pending, remaining, unpaid }, now.toISOString() > deadline);
  const amount = (value: bigint) => fromMinor(value, decimals);
  const renewedAt = renewalOf(order);
  return {
    reference,
    merchant: merchantOf(settings),
    lines: order.items.map(lineOf),
    sums: sumsOf(order),
    currency,
    total: amount(total),
    paid: amount(sum(arrived.map(({ paid_amount }) => paid_amount))),
    returned: amount(sum(arrived.map(({ refunded_amount = '0' }) => refunded_amount))),
    due_back: amount([...dueBackById.values()].reduce((all, due) => all + due, 0n)),
    applied: amount(applied),
    pending: amount(pending),
    remaining: amount(remaining),
    shortfall: amount(minor(order.shortfall_amount ?? '0')),
    accepted_by_merchant: order.status_reason === 'accepted_by_merchant',
    surplus: amount(atLeastZero(applied - total)),
    rates: Object.entries(order.rates)
      .filter(([item]) => item !== currency)
      .map(([item, { rate, quoted_at }]) => ({ currency: item as Item['currency'], rate, quoted_at })),
    ...(renewedAt && { price_updated_at: renewedAt }),
    state,
    deadline,
    rules: {
      partial_payments: capabilities.partial_payments,
      can_overpay: capabilities.can_overpay,
      renews: capabilities.expiration_auto_renewal,
      express: capabilities.express_checkout,
    },
    ways: TAKES_MONEY.has(state) ? waysToPay(page.deposits, remaining, decimals) : [],
    payments,
    refund_claims: refundClaims(shown, dueBackById, now),
    ...linksOf(order),
  };
};

const merchantOf = ({
  display_name: name,
  contact,
  logo_url,
  accent_color,
}: PaymentPageSettings): Checkout['merchant'] => ({
  name,
  ...(contact !== undefined && { contact }),
  ...(logo_url !== undefined && { logo_url }),
  ...(accent_color !== undefined && { accent_url: accentPath(accent_color) }),
});

const linksOf = (order: Order): Pick<Checkout, 'return_url' | 'cancel_url'> => {
  const linkTo = (url: string | undefined) => (url === undefined ? undefined : returnLink(url, order));
  const [return_url, cancel_url] = [linkTo(order.return_url), linkTo(order.cancel_url)];
  return { ...(return_url !== undefined && { return_url }), ...(cancel_url !== undefined && { cancel_url }) };
};

const HAS_ARRIVED: ReadonlySet<Payment['status']> = new Set(['applied', 'orphan', 'refunded']);

/** The merchant may accept these payments instead of returning them. */
export const MAY_BE_ACCEPTED: ReadonlySet<CheckoutPaymentState> = new Set(['late', 'insufficient', 'wrong_network']);

const TAKES_MONEY: ReadonlySet<CheckoutState> = new Set(['waiting', 'partially_paid', 'reversed']);

const atLeastZero = (value: bigint): bigint => (value > 0n ? value : 0n);

interface Sums {
  readonly applied: bigint;
  /** Received and undecided. */
  readonly pending: bigint;
  readonly remaining: bigint;
  /** What payments that count do not cover. A refunded order asks for nothing, but can be paid again. */
  readonly unpaid: bigint;
}

const stateOf = (
  { status, status_reason: reason }: Order,
  { pending, remaining, unpaid, applied }: Sums,
  isPastDeadline: boolean,
): CheckoutState => {
  switch (status) {
    case 'initialized':
      return 'preparing';
    case 'awaiting_payment':
    case 'partially_paid':
      if (pending > 0n && remaining === 0n) return 'confirming';
      if (isPastDeadline) return 'closing';
      return pending + applied > 0n ? 'partially_paid' : 'waiting';
    case 'reversed':
      if (reason === 'payment_refunded') return pending > 0n && pending >= unpaid ? 'confirming' : 'returned';
      return pending > 0n && remaining === 0n ? 'confirming' : 'reversed';
    case 'paid':
    case 'expired':
    case 'partially_paid_expired':
    case 'canceled':
      return status;
  }
};

/** The first prices were quoted before the order was created. */
const renewalOf = ({ rates, created_at = '', currency }: Order): string | null => {
  const quoted = Object.entries(rates)
    .filter(([item]) => item !== currency)
    .map(([, { quoted_at }]) => quoted_at)
    .sort()
    .at(-1);
  return quoted && quoted > created_at ? quoted : null;
};

const lineOf = (item: Item): CheckoutLine => ({
  ...priced(item),
  kind: item.kind ?? 'product',
  modifiers: (item.modifiers ?? []).map(priced),
});

const sumsOf = ({ item_totals, currency: paidIn }: Order): Checkout['sums'] => {
  const sums = Object.entries(item_totals).map(([currency, amount]) => ({
    currency: currency as ItemCurrency,
    amount,
  }));
  return sums.every(({ currency }) => currency === paidIn) ? [] : sums;
};

const priced = ({ name, quantity, unit_price, currency }: Modifier) => {
  const price = formatDecimal(multiply(parseDecimal(String(quantity)), parseSigned(unit_price)));
  return { name, quantity, unit_price, price, currency };
};

/** A URL of the merchant with `order_id` and `status`; undefined unless it is http or https. */
export const returnLink = (url: string, { id, status }: Pick<Order, 'id' | 'status'>): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  const link = new URL(url);
  if (link.protocol !== 'https:' && link.protocol !== 'http:') return undefined;
  const query = link.search.slice(1);
  // Some frameworks read the first of equal names, and some the last one: both are the shop's.
  const again = query.split('&').filter((pair) => ADDED.has([...new URLSearchParams(pair).keys()][0] ?? ''));
  link.search = [...(query ? [query] : []), `order_id=${id}`, `status=${status}`, ...again].join('&');
  return link.href;
};

const ADDED: ReadonlySet<string> = new Set(['order_id', 'status']);
