import type { OrderEvent, OrderStatus } from '@cpg/contracts';
import { fold } from '@cpg/core';
import { after, cancel, dueAt, existing, expireAt, given, past, remove, statuses } from '../testing/jest-deciding.ts';
import { createOrder, minutesAfterNoon, NOON, offer, payment, paymentId } from '../testing/orders.ts';
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
const refund = (refundedTotalMinor: bigint, refundedAt = NOON): OrderCommand => ({
  type: 'RefundPayment',
  paymentId: paymentId(1),
  refundId: `rfd_${'0'.repeat(26)}`,
  refundedTotalMinor,
  refundedAt,
  at: minutesAfterNoon(20),
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
  test('a partial refund of a paid order leaves nothing to pay', () =>
    expect(remainingMinor(existing(after(createOrder(), offer(1, 10_000_000n), refund(1_000_000n))))).toBe(0n));
  test('a full refund of the only applied payment makes the order await payment again', () =>
    expect(after(createOrder(), offer(1, 4_000_000n), refund(4_000_000n)).status).toBe('awaiting_payment'));
  test('a refund of the surplus leaves the order paid', () => {
    const order = existing(after(createOrder(), offer(1, 12_000_000n), refund(2_000_000n)));
    expect(order.status).toBe('paid');
    expect(orderView(order).payments).toMatchObject([
      { applied_amount: '10.000000', unapplied_amount: '0.000000', refunded_amount: '2.000000' },
    ]);
  });
  test('an order that was reversed after a partial refund is paid with the same amount again', () => {
    const order = existing(after(createOrder(), offer(1, 10_000_000n), refund(1_000_000n), fail(1)));
    expect([order.status, remainingMinor(order)]).toEqual(['reversed', 10_000_000n]);
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

describe('a partial refund before the order is paid', () => {
  const partly = [createOrder(), offer(1, 4_000_000n), refund(1_000_000n)];

  test('takes its amount out of the applied sum', () => {
    const order = existing(after(...partly));
    expect([order.status, remainingMinor(order)]).toEqual(['partially_paid', 7_000_000n]);
    expect(orderView(order).payments).toMatchObject([{ applied_amount: '3.000000', refunded_amount: '1.000000' }]);
  });
  test('records how much of the payment still counts', () =>
    given(...past(...partly.slice(0, 2)))
      .when(refund(1_000_000n))
      .thenLike({ type: 'OrderPaymentRefunded', data: { appliedMinor: '3000000', status: 'partially_paid' } }));
  test('keeps the order from becoming paid with too little', () => {
    expect(after(...partly, offer(2, 6_000_000n)).status).toBe('partially_paid');
    expect(after(...partly, offer(2, 7_000_000n)).status).toBe('paid');
  });
  test('takes nothing more out when the order is paid and more is refunded', () => {
    const order = after(...partly, offer(2, 7_000_000n), refund(2_000_000n, minutesAfterNoon(30)));
    expect(order.status).toBe('paid');
    expect(existing(order).payments[0]).toMatchObject({ appliedMinor: 3_000_000n, refundedMinor: 2_000_000n });
  });
  test('takes its amount out of an order that was reversed, too', () => {
    const reversed = [createOrder(), offer(1, 6_000_000n), offer(2, 4_000_000n), fail(2), refund(1_000_000n)];
    expect(remainingMinor(existing(after(...reversed)))).toBe(5_000_000n);
  });
  test('takes its amount out of a partly paid order that expired', () => {
    const order = existing(after(createOrder(), offer(1, 4_000_000n), expireAt(dueAt), refund(1_000_000n)));
    expect([order.status, remainingMinor(order)]).toEqual(['partially_paid_expired', 7_000_000n]);
  });
  test('is due at the new rates after a renewal', () => {
    const renewed: OrderCommand = { type: 'RenewOrder', rates: {}, pricedMinor: 20_000_001n, at: dueAt };
    const renewing = createOrder({ allow: { expiration_auto_renewal: true } });
    const order = existing(after(renewing, offer(1, 5_000_000n), renewed, refund(2_000_000n)));
    // 3 of 10 are paid. 7 tenths of 20.000001 remain, rounded up for each of the two parts.
    expect([order.totalMinor, remainingMinor(order)]).toEqual([17_000_002n, 14_000_002n]);
  });
  test('reverses an order that was paid before it learned of the refund', () => {
    const order = after(
      createOrder(),
      offer(1, 4_000_000n),
      offer(2, 6_000_000n, { at: minutesAfterNoon(10) }),
      refund(1_000_000n, minutesAfterNoon(5)),
    );
    expect([order.status, remainingMinor(existing(order))]).toEqual(['reversed', 1_000_000n]);
  });
  test('counts as made after the payment of the order when the clocks of the services differ by a second', () =>
    expect(
      after(createOrder(), offer(1, 10_000_000n, { at: minutesAfterNoon(1) }), refund(1n, minutesAfterNoon(0.99)))
        .status,
    ).toBe('paid'));
});

test('an event of an earlier version, without the amount that still counts, takes nothing out', () => {
  const partly = past(createOrder(), offer(1, 4_000_000n));
  const refunded: OrderEvent = {
    type: 'OrderPaymentRefunded',
    data: {
      paymentId: paymentId(1),
      refundId: `rfd_${'0'.repeat(26)}`,
      refundedTotalMinor: '1000000',
      status: 'partially_paid',
      reason: 'partial_payment',
      at: NOON.toISOString(),
    },
  };
  expect(remainingMinor(existing(fold(orderDecider, orderDecider.initial, [...partly, refunded])))).toBe(6_000_000n);
});

describe('money that its rail sees again after a failure', () => {
  const again = (n: number, amountMinor: bigint, options: Parameters<typeof offer>[2] = {}): OrderCommand =>
    offer(n, amountMinor, { sighting: 2, reinstatedAt: NOON.toISOString(), ...options });

  test('pays the reversed order again', () =>
    given(...past(createOrder(), offer(1, 10_000_000n), fail(1)))
      .when(again(1, 10_000_000n))
      .thenLike(
        { type: 'OrderPaymentReinstated', data: { sighting: 2, confirmed: true } },
        { type: 'OrderPaymentsApplied', data: { status: 'paid', sightings: { [paymentId(1)]: 2 } } },
        { type: 'OrderPaid' },
      ));
  test('pays it again in full after a refund that was made while the order was paid', () => {
    const order = after(createOrder(), offer(1, 10_000_000n), refund(1_000_000n), fail(1), again(1, 10_000_000n));
    expect(order.status).toBe('paid');
    expect(orderView(existing(order)).payments).toMatchObject([
      { applied_amount: '9.000000', refunded_amount: '1.000000' },
    ]);
  });
  test('counts without the part that was refunded before the order was paid', () => {
    const order = after(createOrder(), offer(1, 4_000_000n), refund(1_000_000n), fail(1), again(1, 4_000_000n));
    expect([order.status, remainingMinor(existing(order))]).toEqual(['partially_paid', 7_000_000n]);
  });
  test('is received until it is confirmed', () => {
    const seen = past(createOrder(), offer(1, 10_000_000n), fail(1), again(1, 10_000_000n, { confirmed: false }));
    expect(statuses(fold(orderDecider, orderDecider.initial, seen))).toEqual(['received']);
    given(...seen)
      .when(again(1, 10_000_000n))
      .thenLike({ type: 'OrderPaymentConfirmed' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
  });
  test('becomes an orphan when the order is paid with other money', () =>
    expect(
      statuses(after(createOrder(), offer(1, 10_000_000n), fail(1), offer(2, 10_000_000n), again(1, 10_000_000n))),
    ).toEqual(['orphan', 'applied']));
  test('records the failure first when the order has not learned of it', () =>
    given(...past(createOrder(), offer(1, 10_000_000n)))
      .when(again(1, 10_000_000n, { confirmed: false }))
      .thenLike(
        { type: 'OrderPaymentFailed', data: { status: 'reversed' } },
        { type: 'OrderPaymentReinstated', data: { confirmed: false } },
      ));
  test('is not touched by reports of the earlier sighting', () => {
    const paid = past(createOrder(), offer(1, 10_000_000n), fail(1), again(1, 10_000_000n));
    for (const old of [fail(1), offer(1, 10_000_000n), again(1, 10_000_000n)])
      given(...paid)
        .when(old)
        .thenNothing();
  });
  const failAgain = (confirmations?: number): OrderCommand => ({
    type: 'FailPayment',
    payment: payment(1, 10_000_000n, { sighting: 2, reinstatedAt: NOON.toISOString(), confirmations }),
    failureReason: 'dropped',
    at: NOON,
  });
  test('can fail again', () => {
    const paidAgain = [createOrder(), offer(1, 10_000_000n), fail(1), again(1, 10_000_000n)];
    expect(after(...paidAgain, failAgain()).status).toBe('reversed');
    given(...past(createOrder(), offer(1, 10_000_000n), fail(1), failAgain()))
      .when(again(1, 10_000_000n))
      .thenLike({ type: 'OrderPaymentConfirmed' });
  });
  test('is recorded before its failure when the order learns of both at once', () =>
    given(...past(createOrder(), offer(1, 10_000_000n)))
      .when(failAgain(0))
      .thenLike(
        { type: 'OrderPaymentFailed', data: { failureReason: 'reorg', status: 'reversed' } },
        { type: 'OrderPaymentReinstated', data: { sighting: 2, confirmed: false, confirmations: 0 } },
        { type: 'OrderPaymentFailed', data: { failureReason: 'dropped', sighting: 2 } },
      ));
});
