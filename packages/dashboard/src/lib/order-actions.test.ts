import { actionsOf, appliedAmount, mayBeApplied } from './order-actions.ts';

const order = {
  status: 'awaiting_payment',
  total_amount: '10.000000',
  remaining_amount: '10.000000',
  capabilities: { can_cancel: true, can_update: true },
  payments: [],
};

test('an open order can be extended, canceled and deleted', () =>
  expect(actionsOf(order)).toEqual(['extend', 'cancel', 'delete']));

test('what the order does not allow is not offered', () =>
  expect(actionsOf({ ...order, capabilities: { can_cancel: false, can_update: false } })).toEqual(['delete']));

test('held money can be captured', () =>
  expect(actionsOf({ ...order, payments: [{ status: 'received' }] })).toContain('capture'));

test('an expired order with a part of its money can be accepted or refunded', () =>
  expect(actionsOf({ ...order, status: 'partially_paid_expired', payments: [{ status: 'applied' }] })).toEqual([
    'accept',
    'refund',
    'delete',
  ]));

test('a paid order can be refunded', () =>
  expect(actionsOf({ ...order, status: 'paid', payments: [{ status: 'applied' }] })).toEqual(['refund', 'delete']));

test('what is applied is the total without the rest and the shortfall', () => {
  expect(appliedAmount({ ...order, remaining_amount: '4.000000' })).toBe('6.000000');
  expect(appliedAmount({ ...order, remaining_amount: '0.000000', shortfall_amount: '0.5' })).toBe('9.500000');
  expect(appliedAmount({ ...order, remaining_amount: '12' })).toBe('0');
});

test.each([
  ['late', true],
  ['a reason of a later version', true],
  ['canceled', false],
  ['wrong_currency', false],
])('an orphan because of %s may be applied: %s', (orphan_reason, expected) =>
  expect(mayBeApplied({ status: 'orphan', order_id: 'ord_1', orphan_reason })).toBe(expected),
);

test('money for an address of no order cannot be applied', () =>
  expect(mayBeApplied({ status: 'orphan', order_id: '0xA' })).toBe(false));
