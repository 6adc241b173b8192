import {
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
import type { Story } from './checks.ts';

type Paid =
  'in full' | 'in part, then the rest' | 'too much' | 'too much, and allowed to' | 'twice' | 'the same money twice';

interface Plan {
  readonly currency: PaymentCurrency;
  readonly rail: PaymentRail;
  readonly items: Item[];
  readonly paid: Paid;
}

const modifier = (name: string, unit_price: string, currency: Item['currency'], quantity = 1): Modifier => ({
  name,
  quantity,
  unit_price,
  currency,
});

/** Orders in each item currency, paid in each payment currency, by both rails, in every way that money comes. */
const PLANS: readonly Plan[] = [
  {
    currency: 'USDC',
    rail: 'gateway_pay',
    paid: 'in full',
    items: [
      {
        name: 'Flat white',
        quantity: 2,
        unit_price: '65.00',
        currency: 'MXN',
        modifiers: [modifier('Oat milk', '12.50', 'MXN', 2)],
      },
      { name: 'Concha', quantity: 3, unit_price: '22', currency: 'MXN' },
    ],
  },
  {
    currency: 'USDT',
    rail: 'crypto_deposit',
    paid: 'in part, then the rest',
    items: [
      {
        name: 'Desk lamp',
        quantity: 1,
        unit_price: '49.99',
        currency: 'USD',
        modifiers: [modifier('Gift wrap', '3.50', 'USD')],
      },
    ],
  },
  {
    currency: 'BTC',
    rail: 'crypto_deposit',
    paid: 'too much',
    items: [
      {
        name: 'Espresso machine',
        quantity: 1,
        unit_price: '1249.00',
        currency: 'EUR',
        modifiers: [modifier('Warranty', '89', 'EUR')],
      },
    ],
  },
  {
    currency: 'ETH',
    rail: 'crypto_deposit',
    paid: 'twice',
    items: [
      {
        name: 'Yerba mate, per kilo',
        quantity: 2.5,
        unit_price: '8400',
        currency: 'ARS',
        modifiers: [modifier('Tin', '1500', 'ARS')],
      },
    ],
  },
  {
    currency: 'USDG',
    rail: 'gateway_pay',
    paid: 'too much, and allowed to',
    items: [
      {
        name: 'Donation',
        quantity: 1,
        unit_price: '20',
        currency: 'USDT',
        modifiers: [modifier('Badge', '1.000001', 'USDC')],
      },
    ],
  },
  {
    currency: 'CAZ',
    rail: 'gateway_pay',
    paid: 'the same money twice',
    items: [
      {
        name: 'Ticket',
        quantity: 2,
        unit_price: '15',
        currency: 'USDG',
        modifiers: [modifier('Seat', '2.25', 'EUR', 2)],
      },
      { name: 'Snack', quantity: 1, unit_price: '55', currency: 'MXN' },
    ],
  },
];

/** What came of it, as the API answered last. */
export interface Bought {
  readonly order: Order;
  /** Payments that the order must have. */
  readonly payments: number;
}

/** Creates and pays the orders of the plan, and checks each answer. */
export const buyEverything = async (api: Api, story: Story, reference: string): Promise<Bought[]> => {
  const bought: Bought[] = [];
  for (const [index, plan] of PLANS.entries()) bought.push(await buy(api, story, plan, `${reference}-${index + 1}`));
  return bought;
};

const buy = async (
  api: Api,
  story: Story,
  { currency, rail, items, paid }: Plan,
  reference: string,
): Promise<Bought> => {
  const created = await api.createOrder(
    orderBody({
      external_reference_id: reference,
      items,
      payment_currency: currency,
      capabilities: { can_overpay: paid === 'too much, and allowed to' },
      metadata: { demo: true },
    }),
  );
  const { id, total_amount: total } = created;
  const priced = [...new Set(items.flatMap((item) => [item, ...(item.modifiers ?? [])]).map((line) => line.currency))];
  story.line(`${id}  ${priced.join(' + ')}  ${total} ${currency}, paid ${paid} by ${rail}`);
  story.same('it awaits payment of all of it', [created.status, created.remaining_amount], ['awaiting_payment', total]);
  story.same('it has a locked rate for each currency', Object.keys(created.rates).sort(), [...priced].sort());
  story.holds(
    'it says how to pay by both rails',
    new Set(created.deposit_instructions.map((each) => each.rail)).size === 2,
  );

  const minor = toMinor(total, currency);
  const write = (units: bigint) => fromMinor(units, currency);
  let sent = 0;
  const pay = (units: bigint, txHash = `demo-${reference}-${(sent += 1)}`) =>
    api.pay({ order_id: id, payment_rail: rail, amount: write(units), currency, txHash });
  const check = (order: Order, status: Order['status'], remaining: bigint, amounts: (string | undefined)[][]) => {
    story.same(
      `it is ${status}, ${write(remaining)} remain`,
      [order.status, order.remaining_amount],
      [status, write(remaining)],
    );
    const applied = order.payments.map((each) => [each.status, each.applied_amount, each.unapplied_amount]);
    story.same('its payments are what became of the money', applied, amounts);
  };

  switch (paid) {
    case 'in full': {
      const order = await pay(minor);
      check(order, 'paid', 0n, [['applied', total, undefined]]);
      return { order, payments: 1 };
    }
    case 'in part, then the rest': {
      const part = minor / 3n;
      check(await pay(part), 'partially_paid', minor - part, [['applied', write(part), undefined]]);
      const order = await pay(minor - part);
      check(order, 'paid', 0n, [
        ['applied', write(part), undefined],
        ['applied', write(minor - part), undefined],
      ]);
      return { order, payments: 2 };
    }
    case 'too much': {
      const order = await pay(minor + 1_000n);
      check(order, 'paid', 0n, [['applied', total, write(1_000n)]]);
      return { order, payments: 1 };
    }
    case 'too much, and allowed to': {
      const order = await pay(minor * 2n);
      check(order, 'paid', 0n, [['applied', write(minor * 2n), undefined]]);
      return { order, payments: 1 };
    }
    case 'twice': {
      await pay(minor);
      const order = await pay(minor);
      check(order, 'paid', 0n, [
        ['applied', total, undefined],
        ['orphan', undefined, undefined],
      ]);
      return { order, payments: 2 };
    }
    case 'the same money twice': {
      const first = await pay(minor, `demo-${reference}-same`);
      const order = await pay(minor, `demo-${reference}-same`);
      story.same('reported again, it is the same payment', order, first);
      check(order, 'paid', 0n, [['applied', total, undefined]]);
      return { order, payments: 1 };
    }
  }
};
