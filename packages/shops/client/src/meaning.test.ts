import type { Order, Payment } from '@cpg/sdk';
import { meaningOf } from './meaning.ts';

const payment = (fields: Partial<Payment>): Payment =>
  ({ id: 'pay_1', currency: 'USDC', paid_amount: '12.500000', ...fields }) as Payment;
const orphan = (orphan_reason: string, more: Partial<Payment> = {}) =>
  payment({ status: 'orphan', orphan_reason: orphan_reason as never, due_back_amount: '12.500000', ...more });
const order = (status: string, { payments = [], ...fields }: Partial<Order> = {}): Order =>
  ({
    id: 'ord_1',
    status,
    currency: 'USDC',
    total_amount: '52.470000',
    remaining_amount: '52.470000',
    payments,
    ...fields,
  }) as Order;

// `isMoneySeen` depends on `payments` alone: an order without them has false, even if it is paid.
const STATES: [name: string, given: Order, state: string, isMoneySeen: boolean, text: string][] = [
  ['a new order', order('initialized'), 'pending', false, 'Waits for a payment of 52.47 USDC.'],
  ['an open order', order('awaiting_payment'), 'pending', false, 'Waits for a payment of 52.47 USDC.'],
  [
    'an order with an unconfirmed payment',
    order('awaiting_payment', { payments: [payment({ status: 'received' })] }),
    'pending',
    true,
    'A payment was seen and is not confirmed yet: wait.',
  ],
  [
    'an order whose only payment failed',
    order('awaiting_payment', { payments: [payment({ status: 'failed' })] }),
    'pending',
    false,
    'Waits for a payment of 52.47 USDC.',
  ],
  [
    'a partly paid order',
    order('partially_paid', { remaining_amount: '2.470000', payments: [payment({ status: 'applied' })] }),
    'pending',
    true,
    'A part is paid, and 2.47 USDC is missing: the payer can still pay it.',
  ],
  ['a paid order', order('paid', { remaining_amount: '0.000000' }), 'captured', false, 'Paid: 52.47 USDC.'],
  [
    'an order that was accepted',
    order('paid', { shortfall_amount: '0.470000' }),
    'captured',
    false,
    'Paid: 52.47 USDC, of which 0.47 USDC was let off.',
  ],
  ['an expired order', order('expired'), 'canceled', false, 'The deadline passed without a payment.'],
  ['a canceled order', order('canceled'), 'canceled', false, 'Canceled: it takes no more money.'],
  [
    'a partly paid order after the deadline',
    order('partially_paid_expired', { remaining_amount: '2.470000' }),
    'pending',
    false,
    'The deadline passed, and 2.47 USDC is missing: decide what to do.',
  ],
  [
    'a refunded order',
    order('reversed', { status_reason: 'payment_refunded' }),
    'refunded',
    false,
    'All of the money was paid back.',
  ],
  [
    'a reversed order',
    order('reversed', { status_reason: 'payment_failed' }),
    'reversed',
    false,
    'It was paid, and the payment was taken back: do not ship.',
  ],
  ['a state of a newer gateway', order('frozen'), 'pending', false, 'The gateway says "frozen": update this plugin.'],
];

test.each(STATES)('%s', (_name, given, state, isMoneySeen, text) => {
  expect(meaningOf(given)).toMatchObject({ state, isMoneySeen, text });
});

const DECISIONS: [string, Order, string, string, string][] = [
  ['late money', order('expired', { payments: [orphan('late')] }), 'late', 'late:pay_1', 'Late: 12.5 USDC came after'],
  [
    'a second payment',
    order('paid', { payments: [orphan('already_paid')] }),
    'second',
    'second:pay_1',
    'Second payment: 12.5 USDC came for an order that is paid.',
  ],
  [
    'too little at the deadline',
    order('partially_paid_expired', { remaining_amount: '2.470000' }),
    'too_little',
    'too_little:2.470000',
    'Too little: 2.47 USDC of 52.47 USDC did not come',
  ],
  [
    'too little without partial payments',
    order('expired', { payments: [orphan('insufficient')] }),
    'too_little',
    'too_little:pay_1',
    'Too little: 12.5 USDC does not cover the order.',
  ],
  [
    'a surplus',
    order('paid', { payments: [payment({ status: 'applied', due_back_amount: '1.000000' })] }),
    'too_much',
    'too_much:pay_1',
    'Too much: pay 1 USDC back',
  ],
  [
    'another token',
    order('awaiting_payment', { payments: [orphan('wrong_currency', { asset_label: 'USDC.e' })] }),
    'wrong_coin',
    'wrong_coin:pay_1',
    'Wrong coin: 12.5 USDC.e does not pay',
  ],
  [
    'another network',
    order('awaiting_payment', { payments: [orphan('wrong_network')] }),
    'wrong_coin',
    'wrong_coin:pay_1',
    'Wrong network: 12.5 USDC came',
  ],
  [
    'money for a canceled order',
    order('canceled', { payments: [orphan('canceled')] }),
    'orphan',
    'orphan:pay_1',
    'After the cancellation: 12.5 USDC',
  ],
  [
    'money of somebody else',
    order('awaiting_payment', { payments: [orphan('before_order')] }),
    'orphan',
    'orphan:pay_1',
    '12.5 USDC is older than the order.',
  ],
  [
    'a reason of a newer gateway',
    order('awaiting_payment', { payments: [orphan('frozen')] }),
    'orphan',
    'orphan:pay_1',
    '12.5 USDC does not count for the order (frozen).',
  ],
  [
    'a reversal after the capture',
    order('reversed', { status_reason: 'payment_failed', paid_at: '2026-01-31T12:08:10.000Z' }),
    'reversed',
    'reversed:2026-01-31T12:08:10.000Z',
    'Reversed: the payment of this paid order was taken back.',
  ],
];

test.each(DECISIONS)('%s needs a decision', (_name, given, kind, id, text) => {
  expect(meaningOf(given).decisions).toEqual([{ id, kind, text: expect.stringContaining(text) }]);
});

test.each([
  ['a refunded orphan', order('paid', { payments: [payment({ status: 'refunded' })] })],
  [
    'an orphan of which nothing is left',
    order('paid', { payments: [payment({ status: 'orphan', orphan_reason: 'late' })] }),
  ],
  ['a payment without surplus', order('paid', { payments: [payment({ status: 'applied' })] })],
  ['a refunded order', order('reversed', { status_reason: 'payment_refunded' })],
])('%s needs no decision', (_name, given) => {
  expect(meaningOf(given).decisions).toEqual([]);
});

test('payments that the order does not show need decisions too, and each payment only one', () => {
  const shown = order('paid', { payments: [orphan('late')] });
  const more = [orphan('too_many_payments', { id: 'pay_2' }), orphan('late')];
  expect(meaningOf(shown, more).decisions.map(({ id }) => id)).toEqual(['late:pay_1', 'orphan:pay_2']);
});
