import {
  decimalsIn,
  fromMinor,
  type Item,
  type Modifier,
  type Order,
  type PaymentCurrency,
  type PaymentRail,
  toMinor,
} from '@cpg/contracts';
import type { Api } from '../harness/api.ts';
import { orderBody } from '../harness/order-bodies.ts';
import type { Report } from './report.ts';

/** A paid order, as the API last returned it. */
export interface Bought {
  readonly order: Order;
  /** The number of payments that the order must have. */
  readonly payments: number;
}

/** Creates and pays the orders of the plans and checks each answer. */
export const buyAll = async (api: Api, report: Report, reference: string): Promise<Bought[]> => {
  const bought: Bought[] = [];
  for (const [index, plan] of PLANS.entries()) bought.push(await buy(api, report, plan, `${reference}-${index + 1}`));
  return bought;
};

const buy = async (api: Api, report: Report, plan: Plan, reference: string): Promise<Bought> => {
  const order = await createOrder(api, report, plan, reference);
  return PAY[plan.paid](purchaseOf(api, report, plan, order));
};

const createOrder = async (api: Api, report: Report, plan: Plan, reference: string): Promise<Order> => {
  const { currency, rail, items, paid } = plan;
  const order = await api.createOrder(
    orderBody({
      external_reference_id: reference,
      items,
      payment_currency: currency,
      capabilities: { can_overpay: paid === 'too much, with overpaying allowed' },
      metadata: { demo: true },
    }),
  );
  const lines = items.flatMap((item) => [item, ...(item.modifiers ?? [])]);
  const priced = [...new Set(lines.map((line) => line.currency))];
  const { id, total_amount: total } = order;
  report.line(`${id}  ${priced.join(' + ')}  ${total} ${currency}, paid ${paid} by ${rail}`);
  report.equal('awaits payment of its total', [order.status, order.remaining_amount], ['awaiting_payment', total]);
  report.equal('has a locked rate for each currency', Object.keys(order.rates).sort(), [...priced].sort());
  report.isTrue(
    'has deposit instructions for both rails',
    new Set(order.deposit_instructions.map((instruction) => instruction.rail)).size === 2,
  );
  return order;
};

/** One order while it is paid. Amounts are in minor units of its currency. */
interface Purchase {
  readonly orderId: string;
  readonly dueMinor: bigint;
  /** Reports a payment, under a new transaction hash by default. */
  readonly pay: (minor: bigint, txHash?: string) => Promise<Order>;
  /** Checks the status, the remaining amount and the payments of the order. */
  readonly check: (order: Order, status: Order['status'], remainingMinor: bigint, payments: ExpectedPayment[]) => void;
  /** Checks that two answers are the same. */
  readonly same: (order: Order, earlier: Order) => void;
}

/** An amount that is not given is zero. */
type ExpectedPayment = readonly [status: string, appliedMinor?: bigint, unappliedMinor?: bigint];

const purchaseOf = (api: Api, report: Report, { currency, rail }: Plan, order: Order): Purchase => {
  const decimals = decimalsIn(order.total_amount);
  const amount = (minor: bigint) => fromMinor(minor, decimals);
  let count = 0;
  return {
    orderId: order.id,
    dueMinor: toMinor(order.total_amount, decimals),
    pay: (minor, txHash = `demo-${order.id}-${(count += 1)}`) =>
      api.pay({ order_id: order.id, payment_rail: rail, amount: amount(minor), currency, txHash }),
    check: ({ status, remaining_amount, payments }, expectedStatus, remainingMinor, expectedPayments) => {
      const remaining = amount(remainingMinor);
      report.equal(
        `is ${expectedStatus}, ${remaining} remain`,
        [status, remaining_amount],
        [expectedStatus, remaining],
      );
      report.equal(
        'has the expected payments',
        payments.map((payment) => [payment.status, payment.applied_amount, payment.unapplied_amount]),
        expectedPayments.map(([state, applied = 0n, unapplied = 0n]) => [state, amount(applied), amount(unapplied)]),
      );
    },
    same: (answer, earlier) => report.equal('is not paid twice by the same transaction', answer, earlier),
  };
};

const PAY: Record<PaymentPlan, (purchase: Purchase) => Promise<Bought>> = {
  'in full': async ({ dueMinor, pay, check }) => {
    const order = await pay(dueMinor);
    check(order, 'paid', 0n, [['applied', dueMinor]]);
    return { order, payments: 1 };
  },
  'in two parts': async ({ dueMinor, pay, check }) => {
    const part = dueMinor / 3n;
    check(await pay(part), 'partially_paid', dueMinor - part, [['applied', part]]);
    const order = await pay(dueMinor - part);
    check(order, 'paid', 0n, [
      ['applied', part],
      ['applied', dueMinor - part],
    ]);
    return { order, payments: 2 };
  },
  'too much': async ({ dueMinor, pay, check }) => {
    const surplus = 1_000n;
    const order = await pay(dueMinor + surplus);
    check(order, 'paid', 0n, [['applied', dueMinor, surplus]]);
    return { order, payments: 1 };
  },
  'too much, with overpaying allowed': async ({ dueMinor, pay, check }) => {
    const order = await pay(dueMinor * 2n);
    check(order, 'paid', 0n, [['applied', dueMinor * 2n]]);
    return { order, payments: 1 };
  },
  twice: async ({ dueMinor, pay, check }) => {
    await pay(dueMinor);
    const order = await pay(dueMinor);
    check(order, 'paid', 0n, [['applied', dueMinor], ['orphan']]);
    return { order, payments: 2 };
  },
  'with one transaction reported twice': async ({ orderId, dueMinor, pay, check, same }) => {
    const txHash = `demo-${orderId}-repeated`;
    const first = await pay(dueMinor, txHash);
    const order = await pay(dueMinor, txHash);
    same(order, first);
    check(order, 'paid', 0n, [['applied', dueMinor]]);
    return { order, payments: 1 };
  },
};

/** How an order is paid. */
type PaymentPlan =
  | 'in full'
  | 'in two parts'
  | 'too much'
  | 'too much, with overpaying allowed'
  | 'twice'
  | 'with one transaction reported twice';

interface Plan {
  readonly currency: PaymentCurrency;
  readonly rail: PaymentRail;
  readonly items: Item[];
  readonly paid: PaymentPlan;
}

const line = (name: string, quantity: number, unit_price: string, currency: Item['currency'], modifier?: Modifier) => ({
  name,
  quantity,
  unit_price,
  currency,
  ...(modifier && { modifiers: [modifier] }),
});

/** Orders with every item currency, paid in every payment currency, on both rails, in every way. */
const PLANS: readonly Plan[] = [
  {
    currency: 'USDC',
    rail: 'gateway_pay',
    paid: 'in full',
    items: [line('Flat white', 2, '65.00', 'MXN', line('Oat milk', 2, '12.50', 'MXN')), line('Concha', 3, '22', 'MXN')],
  },
  {
    currency: 'USDT',
    rail: 'crypto_deposit',
    paid: 'in two parts',
    items: [line('Desk lamp', 1, '49.99', 'USD', line('Gift wrap', 1, '3.50', 'USD'))],
  },
  {
    currency: 'BTC',
    rail: 'crypto_deposit',
    paid: 'too much',
    items: [line('Espresso machine', 1, '1249.00', 'EUR', line('Warranty', 1, '89', 'EUR'))],
  },
  {
    currency: 'ETH',
    rail: 'crypto_deposit',
    paid: 'twice',
    items: [line('Yerba mate, per kilo', 2.5, '8400', 'ARS', line('Tin', 1, '1500', 'ARS'))],
  },
  {
    currency: 'USDG',
    rail: 'gateway_pay',
    paid: 'too much, with overpaying allowed',
    items: [line('Donation', 1, '20', 'USDT', line('Badge', 1, '1.000001', 'USDC'))],
  },
  {
    currency: 'CAZ',
    rail: 'gateway_pay',
    paid: 'with one transaction reported twice',
    items: [line('Ticket', 2, '15', 'USDG', line('Seat', 2, '2.25', 'EUR')), line('Snack', 1, '55', 'MXN')],
  },
];
