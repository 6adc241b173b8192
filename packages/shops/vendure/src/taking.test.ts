import { takingOf } from './taking.ts';

test.each(['AddingItems', 'ArrangingPayment', 'ArrangingAdditionalPayment'])(
  'a paid order in %s gets its payment',
  (state) => {
    expect(takingOf(state, 'captured', false)).toEqual({ pay: true });
  },
);

test.each(['pending', 'canceled', 'refunded', 'reversed'] as const)('%s changes no order', (meaning) => {
  expect(takingOf('ArrangingPayment', meaning, false)).toEqual({ pay: false });
});

test.each(['PaymentSettled', 'Shipped', 'Cancelled'])('a payment that %s has already changes nothing', (state) => {
  expect(takingOf(state, 'captured', true)).toEqual({ pay: false });
});

test.each([
  ['Cancelled', 'Paid after this order was cancelled'],
  ['PaymentSettled', 'Paid a second time'],
  ['Delivered', 'Paid a second time'],
])('a payment of an order that is %s is for staff', (state, text) => {
  expect(takingOf(state, 'captured', false)).toEqual({ pay: false, note: expect.stringContaining(text) });
});
