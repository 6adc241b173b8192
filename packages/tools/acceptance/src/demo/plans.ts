import type { Item, Modifier, PaymentCurrency, PaymentRail } from '@cpg/contracts';

/** How an order is paid. */
export type PaymentPlan =
  | 'in full'
  | 'in two parts'
  | 'too much'
  | 'too much, with overpaying allowed'
  | 'twice'
  | 'with one transaction reported twice';

export interface Plan {
  readonly currency: PaymentCurrency;
  readonly rail: PaymentRail;
  readonly items: Item[];
  readonly paid: PaymentPlan;
}

const modifier = (name: string, unit_price: string, currency: Item['currency'], quantity = 1): Modifier => ({
  name,
  quantity,
  unit_price,
  currency,
});

/** Orders with every item currency, paid in every payment currency, on both rails, in every way. */
export const PLANS: readonly Plan[] = [
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
    paid: 'in two parts',
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
    paid: 'too much, with overpaying allowed',
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
    paid: 'with one transaction reported twice',
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
