import type { OrderStatus } from '@cpg/contracts';
import { fold } from '@cpg/core';
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
import {
  createOrder,
  instruction,
  minutesAfterNoon,
  NOON,
  offer,
  orderCreated,
  payment,
  paymentId,
} from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { remainingMinor } from './state.ts';
import { orderView } from './view.ts';

describe('payments', () => {
  test('the exact amount pays the order', () =>
    given(orderCreated())
      .when(offer(1, 10_000_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        {
          type: 'OrderPaymentsApplied',
          data: {
            allocations: [{ appliedMinor: '10000000', unappliedMinor: '0' }],
            status: 'paid',
            reason: 'payment_settled',
          },
        },
        { type: 'OrderPaid' },
      ));
  test('a part of it pays in part', () =>
    given(orderCreated())
      .when(offer(1, 4_000_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsApplied', data: { status: 'partially_paid' } },
      ));
  test('parts add up', () => {
    const order = after(createOrder(), offer(1, 4_000_000n), offer(2, 6_000_000n));
    expect(order.status).toBe('paid');
    expect(remainingMinor(existing(order))).toBe(0n);
  });
  test('the same payment offered again changes nothing', () =>
    given(...past(createOrder(), offer(1, 4_000_000n)))
      .when(offer(1, 4_000_000n))
      .thenNothing());
  test('an unconfirmed payment is only noticed, and applies when it is confirmed', () => {
    given(orderCreated())
      .when(offer(1, 10_000_000n, { confirmed: false }))
      .thenLike({ type: 'OrderPaymentReceived' });
    given(...past(createOrder(), offer(1, 10_000_000n, { confirmed: false })))
      .when(offer(1, 10_000_000n))
      .thenLike({ type: 'OrderPaymentConfirmed' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
  });
  test('without partial payments small ones are held until together they settle', () => {
    const small = past(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n));
    expect(small.map(({ type }) => type)).toEqual(['OrderCreated', 'OrderPaymentReceived']);
    given(...small)
      .when(offer(2, 6_000_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        {
          type: 'OrderPaymentsApplied',
          data: { allocations: [{ paymentId: paymentId(1) }, { paymentId: paymentId(2) }], status: 'paid' },
        },
        { type: 'OrderPaid' },
      );
  });
  test('too much: only what remained is applied, the rest is unapplied', () => {
    const order = existing(after(createOrder(), offer(1, 12_000_000n)));
    expect(order.status).toBe('paid');
    expect(order.payments[0]).toMatchObject({ appliedMinor: 10_000_000n, unappliedMinor: 2_000_000n });
  });
  test('too much with can_overpay: all of it is applied', () => {
    const order = existing(after(createOrder({ allow: { can_overpay: true } }), offer(1, 12_000_000n)));
    expect(order.payments[0]).toMatchObject({ appliedMinor: 12_000_000n, unappliedMinor: 0n });
    expect(remainingMinor(order)).toBe(0n);
  });
  test.each([
    ['already_paid', past(createOrder(), offer(1, 10_000_000n)), offer(2, 1n)],
    ['canceled', past(createOrder(), cancel), offer(2, 10_000_000n)],
    ['late', past(createOrder(), expireAt(dueAt)), offer(2, 10_000_000n, { at: minutesAfterNoon(61) })],
    ['wrong_currency', past(createOrder()), offer(2, 10_000_000n, { currency: 'BTC' })],
  ])('it becomes an orphan: %s', (orphanReason, events, command) =>
    given(...events)
      .when(command)
      .thenLike({ type: 'OrderPaymentReceived' }, { type: 'OrderPaymentsOrphaned', data: { orphanReason } }),
  );
  test('money seen in time counts, though it is reported after the deadline', () => {
    const order = after(
      createOrder(),
      expireAt(dueAt),
      offer(1, 10_000_000n, { at: minutesAfterNoon(70), seenAt: minutesAfterNoon(59).toISOString() }),
    );
    expect(order.status).toBe('paid');
  });
  test('the deadline is kept even where its timer is late', () =>
    given(orderCreated())
      .when(offer(1, 10_000_000n, { at: minutesAfterNoon(61) }))
      .thenLike(
        { type: 'OrderExpired' },
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'late' } },
      ));
  test('money that comes while there are no instructions yet waits for them', () => {
    const early = past(createOrder({ instructions: undefined }), offer(1, 10_000_000n));
    given(...early)
      .when({ type: 'InstructOrder', instructions: [instruction], at: NOON })
      .thenLike({ type: 'OrderInstructed' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' });
  });
});

describe('failure and refund', () => {
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

  test('news of a failure that overtakes the payment keeps it from applying', () => {
    const order = after(createOrder(), fail(1), offer(1, 10_000_000n));
    expect(order.status).toBe('awaiting_payment');
    expect(statuses(order)).toEqual(['failed']);
  });
  test('money that is an orphan to the order may have failed on its own record', () => {
    const order = after(createOrder(), offer(1, 4_000_000n), cancel, fail(1));
    expect(order.status).toBe('canceled');
    expect(statuses(order)).toEqual(['failed']);
  });
  test('what was held is taken away by its failure', () => {
    const order = after(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n), fail(1));
    expect(order.status).toBe('awaiting_payment');
    expect(statuses(order)).toEqual(['failed']);
  });
  test('a failure reported again changes nothing', () =>
    given(...past(createOrder(), offer(1, 10_000_000n), fail(1)))
      .when(fail(1))
      .thenNothing());
  test('a partial refund leaves it paid, the whole reverses it', () => {
    const partial = after(createOrder(), offer(1, 10_000_000n), refund(1_000_000n));
    expect(partial.status).toBe('paid');
    expect(existing(partial).payments[0]).toMatchObject({ status: 'applied', refundedMinor: 1_000_000n });
    const whole = after(createOrder(), offer(1, 10_000_000n), refund(10_000_000n));
    expect(whole.status).toBe('reversed');
    expect(statuses(whole)).toEqual(['refunded']);
  });
  test('a partial refund leaves what remains to be paid', () => {
    const order = existing(after(createOrder(), offer(1, 4_000_000n), refund(1_000_000n)));
    expect(order.status).toBe('partially_paid');
    expect(remainingMinor(order)).toBe(6_000_000n);
  });
  test('a whole refund of the only part that was paid leaves it awaiting payment', () =>
    expect(after(createOrder(), offer(1, 4_000_000n), refund(4_000_000n)).status).toBe('awaiting_payment'));
  test('a refund of the surplus leaves it paid', () => {
    const order = existing(after(createOrder(), offer(1, 12_000_000n), refund(2_000_000n)));
    expect(order.status).toBe('paid');
    expect(orderView(order).payments).toMatchObject([{ applied_amount: '10.000000', refunded_amount: '2.000000' }]);
    expect(orderView(order).payments[0]).not.toHaveProperty('unapplied_amount');
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
  test('an older refund that is told late changes nothing', () =>
    given(...past(createOrder(), offer(1, 10_000_000n), refund(3_000_000n)))
      .when(refund(1_000_000n))
      .thenNothing());
  test('a refund told again changes nothing', () =>
    given(...past(createOrder(), offer(1, 10_000_000n), refund(1n)))
      .when(refund(1n))
      .thenNothing());
});

describe('capture', () => {
  test('it applies what is held, whatever the flags say', () => {
    const order = after(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n), capture);
    expect(order.status).toBe('partially_paid');
    expect(statuses(order)).toEqual(['applied']);
  });
  test('it applies late money of an expired order', () => {
    const late = [
      createOrder(),
      expireAt(dueAt),
      offer(1, 4_000_000n, { at: minutesAfterNoon(61) }),
      offer(2, 6_000_000n, { at: minutesAfterNoon(62) }),
    ];
    expect(after(...late.slice(0, 3), capture).status).toBe('partially_paid_expired');
    expect(after(...late, capture).status).toBe('paid');
  });
  test('with nothing pending it changes nothing', () => given(orderCreated()).when(capture).thenNothing());
  test('late money that the order does not need stays late, however often it is captured', () => {
    const late = past(
      createOrder(),
      expireAt(dueAt),
      offer(1, 10_000_000n, { at: minutesAfterNoon(61) }),
      offer(2, 6_000_000n, { at: minutesAfterNoon(62) }),
      capture,
    );
    const order = fold(orderDecider, orderDecider.initial, late);
    expect(existing(order).payments.map(({ status, orphanReason }) => [status, orphanReason])).toEqual([
      ['applied', undefined],
      ['orphan', 'late'],
    ]);
    given(...late)
      .when(capture)
      .thenNothing();
  });
  test('what its rail confirms after it was captured is noted', () =>
    given(...past(createOrder(), offer(1, 10_000_000n, { confirmed: false }), capture))
      .when(offer(1, 10_000_000n, { confirmations: 2 }))
      .thenLike({ type: 'OrderPaymentConfirmed', data: { confirmations: 2 } }));
  test('a canceled order is refused', () =>
    given(...past(createOrder(), cancel))
      .when(capture)
      .thenRefused('order_state_conflict'));
});

describe('an order that has all the payments that it takes note of', () => {
  const payments = Array.from({ length: 250 }, (_, n) => offer(n + 1, 1n));
  const fail = (n: number): OrderCommand => ({
    type: 'FailPayment',
    payment: payment(n, 1n),
    failureReason: 'reorg',
    at: NOON,
  });
  const full = past(createOrder(), ...payments);

  test('knows no other', () => {
    given(...full)
      .when(offer(251, 10_000_000n))
      .thenNothing();
    given(...full)
      .when(fail(251))
      .thenNothing();
  });
  test('goes on with those that it knows', () =>
    given(...full)
      .when(fail(7))
      .thenLike({ type: 'OrderPaymentFailed' }));
  test('took the last of them', () =>
    given(...past(createOrder(), ...payments.slice(1)))
      .when(offer(1, 10_000_000n))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsApplied', data: { status: 'paid' } },
        { type: 'OrderPaid' },
      ));
});
