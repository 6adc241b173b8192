import type { OrderEvent, OrderStatus } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  after,
  cancel,
  capture,
  dueAt,
  existing,
  expireAt,
  given,
  past,
  remove,
  statuses,
} from '../testing/jest-deciding.ts';
import { createOrder, minutesAfterNoon, NOON, offer, payment, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { remainingMinor } from './state.ts';
import { orderView } from './view.ts';

const fail = (n: number): OrderCommand => ({
  type: 'FailPayment',
  payment: payment(n, 10_000_000n),
  failureReason: 'reorg',
  failedAt: NOON,
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
    ['an order with one unit awaits payment again', [createOrder(), offer(1, 1n), fail(1)], 'awaiting_payment'],
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
  test('a refund of the excess leaves the order paid', () => {
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
  test('counts as made after the payment of the order when the clocks of the services differ by a second', () => {
    const before = (ms: number) => new Date(minutesAfterNoon(1).getTime() - ms);
    const status = (refundedAt: Date) =>
      after(createOrder(), offer(1, 10_000_000n, { at: minutesAfterNoon(1) }), refund(1n, refundedAt)).status;
    expect([status(before(600)), status(before(1_000)), status(before(1_001))]).toEqual(['paid', 'paid', 'reversed']);
  });
  test('records what still counts to the last unit, and nothing where all of it still counts', () => {
    const recorded = { type: 'OrderPaymentRefunded' as const };
    given(...past(createOrder(), offer(1, 4_000_000n)))
      .when(refund(1n))
      .thenLike({ ...recorded, data: { appliedMinor: '3999999', status: 'partially_paid' } });
    given(...past(createOrder(), offer(1, 10_000_000n)))
      .when(refund(1n, minutesAfterNoon(5)))
      .thenLike({ ...recorded, data: { appliedMinor: undefined, status: 'paid' } });
  });
});

test('a refund without the amount that still counts takes nothing out', () => {
  const partly = past(createOrder(), offer(1, 4_000_000n));
  const refunded: OrderEvent = {
    type: 'OrderPaymentRefunded',
    data: {
      paymentId: paymentId(1),
      refundId: `rfd_${'0'.repeat(26)}`,
      refundedTotalMinor: '1000000',
      refundedAt: NOON.toISOString(),
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
  test('was dropped if the order never applied it', () =>
    given(...past(createOrder(), offer(1, 10_000_000n, { confirmed: false })))
      .when(again(1, 10_000_000n))
      .thenLike(
        { type: 'OrderPaymentFailed', data: { failureReason: 'dropped', status: 'awaiting_payment' } },
        { type: 'OrderPaymentReinstated' },
        { type: 'OrderPaymentsApplied' },
        { type: 'OrderPaid' },
      ));
  test('keeps its block when an older report arrives after it', () => {
    const block = { height: 9, hash: '0x9a' };
    const seenAgain = again(1, 10_000_000n, { block, confirmations: 12, blockChanges: 3 });
    given(...past(createOrder(), offer(1, 10_000_000n), fail(1), seenAgain))
      .when(again(1, 10_000_000n, { block: { height: 7, hash: '0x7a' }, confirmations: 1, blockChanges: 2 }))
      .thenNothing();
  });
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
    failedAt: NOON,
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

describe('excess of an order that loses a payment', () => {
  const paidTwice = [createOrder(), offer(1, 10_000_000n), offer(2, 10_000_000n)];

  test('pays it in the same moment: it may be the same money under another id', () =>
    given(...past(...paidTwice))
      .when(fail(1))
      .thenLike(
        { type: 'OrderPaymentFailed', data: { status: 'reversed' } },
        { type: 'OrderPaymentsApplied', data: { allocations: [{ paymentId: paymentId(2) }], status: 'paid' } },
        { type: 'OrderPaid', data: { reason: 'payment_settled' } },
      ));
  test('is taken as far as it is needed, oldest first', () => {
    for (const can_overpay of [true, false]) {
      const order = after(
        createOrder({ allow: { can_overpay } }),
        ...paidTwice.slice(1),
        offer(3, 10_000_000n),
        fail(1),
      );
      expect(statuses(order)).toEqual(['failed', 'applied', 'orphan']);
    }
  });
  test('is also the rest of a payment that the order took in part', () => {
    // Both halves return under other ids, and the larger one first makes up for the smaller one.
    const halves = [
      createOrder(),
      offer(1, 6_000_000n),
      offer(2, 4_000_000n),
      offer(3, 6_000_000n),
      offer(4, 4_000_000n),
    ];
    const first = existing(after(...halves, fail(2)));
    expect(first.payments[2]).toMatchObject({
      status: 'applied',
      appliedMinor: 4_000_000n,
      unappliedMinor: 2_000_000n,
    });
    const both = existing(after(...halves, fail(2), fail(1)));
    expect([both.status, ...statuses(both)]).toEqual(['paid', 'failed', 'failed', 'applied', 'applied']);
    expect(both.payments.slice(2)).toMatchObject([
      { appliedMinor: 6_000_000n, unappliedMinor: 0n },
      { appliedMinor: 4_000_000n, unappliedMinor: 0n },
    ]);
  });
  test('counts beside money that came later', () => {
    const order = [createOrder(), offer(1, 6_000_000n), offer(2, 4_000_000n), offer(3, 4_000_000n), fail(1), fail(2)];
    expect(statuses(after(...order))).toEqual(['failed', 'failed', 'orphan']);
    const paid = after(...order, offer(4, 6_000_000n));
    expect([paid.status, ...statuses(paid)]).toEqual(['paid', 'failed', 'failed', 'applied', 'applied']);
  });
  test('is all or nothing: too little stays an orphan', () => {
    const order = after(createOrder(), offer(1, 10_000_000n), offer(2, 9_999_999n), fail(1));
    expect([order.status, ...statuses(order)]).toEqual(['reversed', 'failed', 'orphan']);
  });
  test('counts with the rest after a partial refund', () => {
    const refundSecond = (minor: bigint): OrderCommand => ({
      ...(refund(minor) as Extract<OrderCommand, { type: 'RefundPayment' }>),
      paymentId: paymentId(2),
    });
    const order = [createOrder(), offer(1, 10_000_000n), offer(2, 12_000_000n)];
    const paid = existing(after(...order, refundSecond(2_000_000n), fail(1)));
    expect([paid.status, paid.payments[1]!.appliedMinor]).toEqual(['paid', 10_000_000n]);
    expect(after(...order, refundSecond(2_000_001n), fail(1)).status).toBe('reversed');
    expect(after(...order, refundSecond(12_000_000n), fail(1)).status).toBe('reversed');
  });
  test('waits for its confirmations when its block changed', () => {
    const block = { height: 7, hash: '0x7' };
    const lost = offer(2, 10_000_000n, { confirmed: false, unconfirmed: true, confirmations: 0, blockChanges: 1 });
    const mined = offer(2, 10_000_000n, { confirmed: false, confirmations: 1, block, blockChanges: 2 });
    const reversed = [...paidTwice, lost, fail(1), mined];
    expect(after(...reversed).status).toBe('reversed');
    given(...past(...reversed))
      .when(offer(2, 10_000_000n, { confirmations: 12, block, blockChanges: 2, confirmedAt: dueAt.toISOString() }))
      .thenLike({ type: 'OrderPaymentConfirmed' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
  });
  test('is no late orphan: the order took it neither before nor after', () => {
    const inTime = offer(2, 10_000_000n, { at: minutesAfterNoon(62), seenAt: NOON.toISOString() });
    const late = offer(1, 10_000_000n, { at: minutesAfterNoon(61) });
    const order = after(createOrder(), expireAt(dueAt), late, inTime, fail(2));
    expect([order.status, ...statuses(order)]).toEqual(['reversed', 'orphan', 'failed']);
  });
  test('stays due for refund after a refund: the merchant chose to give the money back', () => {
    expect(after(...paidTwice, refund(10_000_000n)).status).toBe('reversed');
    expect(after(...paidTwice, refund(10_000_000n), capture).status).toBe('paid');
  });
  test('is captured, also if it is too little', () => {
    const order = after(createOrder(), offer(1, 10_000_000n), offer(2, 4_000_000n), fail(1), capture);
    expect([order.status, ...statuses(order)]).toEqual(['reversed', 'failed', 'applied']);
    expect(remainingMinor(existing(order))).toBe(6_000_000n);
  });
  test('is no question for a repeated failure', () =>
    given(...past(...paidTwice, fail(1)))
      .when(fail(1))
      .thenNothing());
});
