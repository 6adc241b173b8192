import type { OrderStatus } from '@cpg/contracts';
import { fold } from '@cpg/core';
import { after, cancel, existing, given, past, remove, statuses } from '../testing/jest-deciding.ts';
import { createOrder, NOON, offer, payment, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { remainingMinor } from './state.ts';
import { orderView } from './view.ts';

const fail = (n: number): OrderCommand => ({
  type: 'FailPayment',
  payment: payment(n, 10_000_000n),
  failureReason: 'reorg',
  at: NOON,
});
const refund = (refundedTotalMinor: bigint): OrderCommand => ({
  type: 'RefundPayment',
  paymentId: paymentId(1),
  refundId: `rfd_${'0'.repeat(26)}`,
  refundedTotalMinor,
  at: NOON,
});

describe('failure', () => {
  test.each<[string, OrderCommand[], OrderStatus]>([
    ['a paid order is reversed', [createOrder(), offer(1, 10_000_000n), fail(1)], 'reversed'],
    ['a partly paid order awaits payment again', [createOrder(), offer(1, 4_000_000n), fail(1)], 'awaiting_payment'],
    [
      'a partly paid order with other money stays so',
      [createOrder(), offer(1, 4_000_000n), offer(2, 1_000_000n), fail(1)],
      'partially_paid',
    ],
    [
      'a reversed order is paid again by new money',
      [createOrder(), offer(1, 10_000_000n), fail(1), offer(2, 10_000_000n)],
      'paid',
    ],
    [
      'a reversed order holds what does not settle it',
      [createOrder(), offer(1, 10_000_000n), fail(1), offer(2, 1_000_000n)],
      'reversed',
    ],
  ])('after a payment failed %s', (_, commands, status) => expect(after(...commands).status).toBe(status));

  test('a failure that arrives before the payment keeps it from being applied', () => {
    const order = after(createOrder(), fail(1), offer(1, 10_000_000n));
    expect(order.status).toBe('awaiting_payment');
    expect(statuses(order)).toEqual(['failed']);
  });
  test('an orphan of the order may fail', () => {
    const order = after(createOrder(), offer(1, 4_000_000n), cancel, fail(1));
    expect(order.status).toBe('canceled');
    expect(statuses(order)).toEqual(['failed']);
  });
  test('a held payment that fails no longer counts', () => {
    const order = after(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n), fail(1));
    expect(order.status).toBe('awaiting_payment');
    expect(statuses(order)).toEqual(['failed']);
  });
  test('a repeated failure changes nothing', () =>
    given(...past(createOrder(), offer(1, 10_000_000n), fail(1)))
      .when(fail(1))
      .thenNothing());
});

describe('refund', () => {
  test('a partial refund leaves the order paid, a full refund reverses it', () => {
    const partial = after(createOrder(), offer(1, 10_000_000n), refund(1_000_000n));
    expect(partial.status).toBe('paid');
    expect(existing(partial).payments[0]).toMatchObject({ status: 'applied', refundedMinor: 1_000_000n });
    const whole = after(createOrder(), offer(1, 10_000_000n), refund(10_000_000n));
    expect(whole.status).toBe('reversed');
    expect(statuses(whole)).toEqual(['refunded']);
  });
  test('a partial refund leaves the remaining amount', () => {
    const order = existing(after(createOrder(), offer(1, 4_000_000n), refund(1_000_000n)));
    expect(order.status).toBe('partially_paid');
    expect(remainingMinor(order)).toBe(6_000_000n);
  });
  test('a full refund of the only applied payment makes the order await payment again', () =>
    expect(after(createOrder(), offer(1, 4_000_000n), refund(4_000_000n)).status).toBe('awaiting_payment'));
  test('a refund of the surplus leaves the order paid', () => {
    const order = existing(after(createOrder(), offer(1, 12_000_000n), refund(2_000_000n)));
    expect(order.status).toBe('paid');
    expect(orderView(order).payments).toMatchObject([
      { applied_amount: '10.000000', unapplied_amount: '0.000000', refunded_amount: '2.000000' },
    ]);
  });
  test('an order whose orphans are refunded can be deleted', () => {
    const orphans = past(createOrder(), offer(1, 4_000_000n), cancel);
    given(...orphans)
      .when(remove)
      .thenRefused('order_has_unsettled_funds');
    given(...orphans, ...orderDecider.decide(refund(4_000_000n), fold(orderDecider, orderDecider.initial, orphans)))
      .when(remove)
      .thenLike({ type: 'OrderDeleted' });
  });
  test('an older refund that arrives late changes nothing', () =>
    given(...past(createOrder(), offer(1, 10_000_000n), refund(3_000_000n)))
      .when(refund(1_000_000n))
      .thenNothing());
  test('a repeated refund changes nothing', () =>
    given(...past(createOrder(), offer(1, 10_000_000n), refund(1n)))
      .when(refund(1n))
      .thenNothing());
});
