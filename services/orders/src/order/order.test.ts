import type { OrderEvent, OrderStatus } from '@cpg/contracts';
import { fold, givenFor } from '@cpg/core';
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
import { type ExistingOrder, type Order, remainingMinor } from './state.ts';
import { orderView } from './view.ts';

const given = givenFor(orderDecider);

/** The state that commands lead to. */
const after = (...commands: OrderCommand[]): Order =>
  commands.reduce<Order>(
    (order, command) => fold(orderDecider, order, orderDecider.decide(command, order)),
    orderDecider.initial,
  );

const existing = (order: Order): ExistingOrder => order as ExistingOrder;
const statuses = (order: Order) => existing(order).payments.map((each) => each.status);

/** The events that commands lead to: a past for given(). */
const past = (...commands: OrderCommand[]): OrderEvent[] => {
  let order = orderDecider.initial;
  return commands.flatMap((command) => {
    const events = orderDecider.decide(command, order);
    order = fold(orderDecider, order, events);
    return events;
  });
};

const expireAt = (at: Date): OrderCommand => ({ type: 'ExpireOrder', at });
const dueAt = minutesAfterNoon(60);
const cancel: OrderCommand = { type: 'CancelOrder', at: NOON };
const capture: OrderCommand = { type: 'CapturePayments', at: NOON };
const remove: OrderCommand = { type: 'DeleteOrder', at: NOON };

describe('creation', () => {
  test('an order with its instructions awaits payment', () => given().when(createOrder()).then(orderCreated()));
  test('without them it is initialized until they come', () => {
    given()
      .when(createOrder({ instructions: undefined }))
      .thenLike({ type: 'OrderCreated', data: { status: 'initialized' } });
    given(...past(createOrder({ instructions: undefined })))
      .when({ type: 'InstructOrder', instructions: [instruction], at: NOON })
      .thenLike({ type: 'OrderInstructed', data: { status: 'awaiting_payment' } });
  });
  test('creating it again changes nothing', () => given(orderCreated()).when(createOrder()).thenNothing());
  test('a command on no order is refused', () => given().when(cancel).thenRefused('not_found'));
});

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

describe('cancel', () => {
  test('an open order is canceled, and its money becomes an orphan', () => {
    const order = after(createOrder(), offer(1, 4_000_000n), cancel);
    expect(order.status).toBe('canceled');
    expect(existing(order).payments[0]).toMatchObject({ status: 'orphan', orphanReason: 'canceled', appliedMinor: 0n });
  });
  test('canceling it again changes nothing', () =>
    given(...past(createOrder(), cancel))
      .when(cancel)
      .thenNothing());
  test('it needs can_cancel', () =>
    given(orderCreated({ allow: { can_cancel: false } }))
      .when(cancel)
      .thenRefused('cancel_not_allowed'));
  test.each([
    ['paid', past(createOrder(), offer(1, 10_000_000n))],
    ['expired', past(createOrder(), expireAt(dueAt))],
  ])('an order that is %s is refused', (_, events) =>
    given(...events)
      .when(cancel)
      .thenRefused('order_state_conflict'),
  );
});

describe('deadline', () => {
  test('an open order expires at the instant it is due', () =>
    given(orderCreated())
      .when(expireAt(dueAt))
      .thenLike({ type: 'OrderExpired', data: { status: 'expired' } }));
  test('it refuses to expire a millisecond early', () =>
    given(orderCreated())
      .when(expireAt(new Date(dueAt.getTime() - 1)))
      .thenRefused('order_state_conflict'));
  test('expiring it twice changes nothing', () =>
    given(...past(createOrder(), expireAt(dueAt)))
      .when(expireAt(dueAt))
      .thenNothing());
  test('partly paid it is partially_paid_expired', () =>
    expect(after(createOrder(), offer(1, 4_000_000n), expireAt(dueAt)).status).toBe('partially_paid_expired'));
  test('held payments become orphans', () => {
    const order = after(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n), expireAt(dueAt));
    expect(order.status).toBe('expired');
    expect(existing(order).payments[0]).toMatchObject({ status: 'orphan', orphanReason: 'late' });
  });
  test('an unconfirmed payment that was seen in time keeps it open, at most 24 hours', () => {
    const pending = past(createOrder(), offer(1, 10_000_000n, { confirmed: false }));
    given(...pending)
      .when(expireAt(dueAt))
      .thenNothing();
    given(...pending)
      .when(expireAt(minutesAfterNoon(60 + 24 * 60)))
      .thenLike({ type: 'OrderExpired' });
  });
  test('with auto renewal it gets new quotes instead, and what was applied keeps its value', () => {
    const renewing = past(createOrder({ allow: { expiration_auto_renewal: true } }), offer(1, 5_000_000n));
    given(...renewing)
      .when(expireAt(dueAt))
      .thenRefused('order_state_conflict');
    given(...renewing)
      .when({ type: 'RenewOrder', rates: {}, pricedMinor: 12_000_001n, at: dueAt })
      .thenLike({
        type: 'OrderRenewed',
        data: { totalMinor: '11000001', renewal: 1, expiresAt: minutesAfterNoon(120).toISOString() },
      });
  });
  test('a second renewal at the same price leaves what is due as it is', () => {
    const renewAt = (minutes: number): OrderCommand => ({
      type: 'RenewOrder',
      rates: {},
      pricedMinor: 20_000_000n,
      at: minutesAfterNoon(minutes),
    });
    const once = [createOrder({ allow: { expiration_auto_renewal: true } }), offer(1, 5_000_000n), renewAt(60)];
    expect(remainingMinor(existing(after(...once)))).toBe(10_000_000n);
    expect(remainingMinor(existing(after(...once, renewAt(120))))).toBe(10_000_000n);
  });
  test.each([
    ['a payment failed', { type: 'FailPayment', payment: payment(1, 5_000_000n), failureReason: 'reorg', at: dueAt }],
    [
      'a payment was refunded whole',
      {
        type: 'RefundPayment',
        paymentId: paymentId(1),
        refundId: `rfd_${'0'.repeat(26)}`,
        refundedTotalMinor: 5_000_000n,
        at: dueAt,
      },
    ],
  ] satisfies [string, OrderCommand][])(
    'after %s nothing of its value is kept: its part is due at the new quotes',
    (_, taken) => {
      const renewed: OrderCommand = { type: 'RenewOrder', rates: {}, pricedMinor: 20_000_001n, at: dueAt };
      const renewing = createOrder({ allow: { expiration_auto_renewal: true } });
      const only = existing(after(renewing, offer(1, 5_000_000n), renewed, taken));
      expect([only.totalMinor, remainingMinor(only)]).toEqual([20_000_001n, 20_000_001n]);
      const another = existing(after(renewing, offer(1, 5_000_000n), offer(2, 2_000_000n), renewed, taken));
      expect([another.totalMinor, remainingMinor(another)]).toEqual([18_000_002n, 16_000_002n]);
    },
  );
  test('what was paid at earlier quotes is what is due again when a paid order is reversed', () => {
    const renewed: OrderCommand = { type: 'RenewOrder', rates: {}, pricedMinor: 20_000_000n, at: dueAt };
    const failed: OrderCommand = {
      type: 'FailPayment',
      payment: payment(1, 5_000_000n),
      failureReason: 'reorg',
      at: dueAt,
    };
    const order = existing(
      after(
        createOrder({ allow: { expiration_auto_renewal: true } }),
        offer(1, 5_000_000n),
        renewed,
        offer(2, 10_000_000n),
        failed,
      ),
    );
    expect([order.status, remainingMinor(order)]).toEqual(['reversed', 5_000_000n]);
  });
  test('it renews 24 times, then it expires', () => {
    const renewals = Array.from({ length: 24 }, (_, n): OrderCommand => ({
      type: 'RenewOrder',
      rates: {},
      pricedMinor: 10_000_000n,
      at: minutesAfterNoon(60 * (n + 1)),
    }));
    const events = past(createOrder({ allow: { expiration_auto_renewal: true } }), ...renewals);
    expect(events.filter(({ type }) => type === 'OrderRenewed')).toHaveLength(24);
    given(...events)
      .when({ type: 'RenewOrder', rates: {}, pricedMinor: 1n, at: minutesAfterNoon(60 * 25) })
      .thenNothing();
    given(...events)
      .when(expireAt(minutesAfterNoon(60 * 25)))
      .thenLike({ type: 'OrderExpired' });
  });
});

describe('a clock that is put forward', () => {
  const advance = (minutes: number, at = NOON): OrderCommand => ({ type: 'AdvanceTime', minutes, at });

  test('brings the deadline nearer', () =>
    given(orderCreated())
      .when(advance(45))
      .then({
        type: 'OrderTimeAdvanced',
        data: { minutes: 45, expiresAt: minutesAfterNoon(15).toISOString(), at: NOON.toISOString() },
      }));
  test('lets it expire', () =>
    expect(after(createOrder(), advance(60), expireAt(NOON))).toMatchObject({ status: 'expired' }));
  test('makes what was paid before that much older, so a pending payment still holds the order open for 24 hours', () => {
    const pending = past(createOrder(), offer(1, 10_000_000n, { confirmed: false }), advance(90));
    given(...pending)
      .when(expireAt(NOON))
      .thenNothing();
    given(...pending, ...orderDecider.decide(advance(24 * 60), fold(orderDecider, orderDecider.initial, pending)))
      .when(expireAt(NOON))
      .thenLike({ type: 'OrderExpired' });
  });
  test.each([
    ['paid', past(createOrder(), offer(1, 10_000_000n))],
    ['canceled', past(createOrder(), cancel)],
    ['expired', past(createOrder(), expireAt(dueAt))],
  ])('is refused once it is %s', (_, events) =>
    given(...events)
      .when(advance(1))
      .thenRefused('order_state_conflict'),
  );
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

describe('update', () => {
  test('metadata and deadline', () =>
    given(orderCreated())
      .when({ type: 'UpdateOrder', metadata: { table: 4 }, expirationMinutes: 10, at: minutesAfterNoon(30) })
      .thenLike({
        type: 'OrderUpdated',
        data: { metadata: { table: 4 }, expiresAt: minutesAfterNoon(40).toISOString() },
      }));
  test('it needs can_update', () =>
    given(orderCreated({ allow: { can_update: false } }))
      .when({ type: 'UpdateOrder', metadata: {}, at: NOON })
      .thenRefused('update_not_allowed'));
  test('a thousand times at most', () => {
    const update: OrderCommand = { type: 'UpdateOrder', metadata: {}, at: NOON };
    const often = past(createOrder(), ...Array<OrderCommand>(999).fill(update));
    given(...often)
      .when(update)
      .thenLike({ type: 'OrderUpdated' });
    given(...often, ...past(createOrder(), update).slice(1))
      .when(update)
      .thenRefused('update_not_allowed');
    given(...often, ...past(createOrder(), update).slice(1))
      .when({ type: 'AdvanceTime', minutes: 1, at: NOON })
      .thenRefused('update_not_allowed');
  });
  test('the deadline moves only while it is open', () =>
    given(...past(createOrder(), cancel))
      .when({ type: 'UpdateOrder', expirationMinutes: 10, at: NOON })
      .thenRefused('order_state_conflict'));
});

describe('deletion', () => {
  test('an order without open money goes', () => given(orderCreated()).when(remove).thenLike({ type: 'OrderDeleted' }));
  test('a paid one too', () =>
    given(...past(createOrder(), offer(1, 10_000_000n)))
      .when(remove)
      .thenLike({ type: 'OrderDeleted' }));
  test.each([
    ['a partial payment', past(createOrder(), offer(1, 4_000_000n))],
    ['a held payment', past(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n))],
    ['an orphan that was not refunded', past(createOrder(), cancel, offer(1, 4_000_000n))],
  ])('one with %s is refused', (_, events) =>
    given(...events)
      .when(remove)
      .thenRefused('order_has_unsettled_funds'),
  );
  test('after it, nothing is possible', () =>
    given(...past(createOrder(), remove))
      .when(cancel)
      .thenRefused('not_found'));
});
