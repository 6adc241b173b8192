import type { OrderEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { after, capture, dueAt, existing, expireAt, given, past } from '../testing/jest-deciding.ts';
import {
  createOrder,
  deposit,
  DUE,
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

const NOON_ISO = NOON.toISOString();
const LATER = minutesAfterNoon(120).toISOString();

describe('deadline', () => {
  test('an open order expires at its deadline', () =>
    given(orderCreated())
      .when(expireAt(dueAt))
      .thenLike({ type: 'OrderExpired', data: { status: 'expired' } }));
  test('is refused a millisecond before the deadline', () =>
    given(orderCreated())
      .when(expireAt(new Date(dueAt.getTime() - 1)))
      .thenRefused('order_state_conflict'));
  test('expiring an order twice changes nothing', () =>
    given(...past(createOrder(), expireAt(dueAt)))
      .when(expireAt(dueAt))
      .thenNothing());
  test('a partially paid order becomes partially_paid_expired', () =>
    expect(after(createOrder(), offer(1, 4_000_000n), expireAt(dueAt)).status).toBe('partially_paid_expired'));
  test('held payments become orphans', () => {
    const order = after(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n), expireAt(dueAt));
    expect(order.status).toBe('expired');
    expect(existing(order).payments[0]).toMatchObject({ status: 'orphan', orphanReason: 'insufficient' });
  });
  test('of held payments, only those that came after the deadline are late', () => {
    const instructions = [instruction, deposit('ethereum')];
    const held = [createOrder({ allow: { partial_payments: false }, instructions }), offer(1, 4_000_000n)];
    const late = offer(2, 3_000_000n, { at: minutesAfterNoon(61) });
    const order = existing(after(...held, late, expireAt(minutesAfterNoon(62))));
    expect(order.payments.map(({ orphanReason }) => orphanReason)).toEqual(['insufficient', 'late']);
  });
  test('a capture applies what was insufficient at the deadline', () =>
    given(...past(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n), expireAt(dueAt)))
      .when(capture)
      .thenLike({ type: 'OrderPaymentsApplied', data: { status: 'partially_paid_expired' } }));
  test('an expiry without reasons calls its orphans late', () => {
    const held = past(createOrder({ allow: { partial_payments: false } }), offer(1, 4_000_000n));
    const data = { status: 'expired', reason: 'deadline_passed', at: dueAt.toISOString() } as const;
    const expired: OrderEvent = { type: 'OrderExpired', data: { orphanedPaymentIds: [paymentId(1)], ...data } };
    const order = existing(fold(orderDecider, orderDecider.initial, [...held, expired]));
    expect(order.payments[0]).toMatchObject({ status: 'orphan', orphanReason: 'late' });
  });
  test('an unconfirmed payment seen before the deadline keeps the order open for at most 24 hours', () => {
    const pending = past(createOrder(), offer(1, 10_000_000n, { confirmed: false }));
    given(...pending)
      .when(expireAt(dueAt))
      .thenNothing();
    given(...pending)
      .when(expireAt(new Date(minutesAfterNoon(60 + 24 * 60).getTime() - 1)))
      .thenNothing();
    given(...pending)
      .when(expireAt(minutesAfterNoon(60 + 24 * 60)))
      .thenLike({ type: 'OrderExpired' });
  });
});

describe('the instant of the deadline', () => {
  const seenAt = dueAt.toISOString();

  test('is in time for an unconfirmed payment, which keeps the order open', () =>
    given(...past(createOrder(), offer(1, 10_000_000n, { confirmed: false, seenAt, at: minutesAfterNoon(61) })))
      .when(expireAt(minutesAfterNoon(61)))
      .thenNothing());
  test('is in time for a payment that is reported after it, although the timer is late', () =>
    given(orderCreated())
      .when(offer(1, 10_000_000n, { seenAt, at: minutesAfterNoon(61) }))
      .thenLike({ type: 'OrderPaymentReceived' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' }));
});

describe('renewal', () => {
  test('locks the new rates until the new deadline, and names no end of their own', () => {
    const rates = { USDC: { rate: '1', source: 'identity', quoted_at: dueAt.toISOString(), expires_at: DUE } };
    given(...past(createOrder({ allow: { expiration_auto_renewal: true } })))
      .when({ type: 'RenewOrder', rates, pricedMinor: 12_000_000n, at: dueAt })
      .then({
        type: 'OrderRenewed',
        data: {
          rates: { USDC: { ...rates.USDC, expires_at: LATER } },
          totalMinor: '12000000',
          pricedMinor: '12000000',
          expiresAt: LATER,
          renewal: 1,
          at: dueAt.toISOString(),
        },
      });
  });
  test('a renewal sets new rates, and applied payments keep their value', () => {
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
  test('a second renewal at the same price leaves the amount due', () => {
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
    [
      'a payment failed',
      { type: 'FailPayment', payment: payment(1, 5_000_000n), failureReason: 'reorg', failedAt: dueAt, at: dueAt },
    ],
    [
      'a payment was refunded in full',
      {
        type: 'RefundPayment',
        paymentId: paymentId(1),
        refundId: `rfd_${'0'.repeat(26)}`,
        refundedTotalMinor: 5_000_000n,
        refundedAt: dueAt,
        at: dueAt,
      },
    ],
  ] satisfies [string, OrderCommand][])('after %s its part is due at the new rates', (_, taken) => {
    const renewed: OrderCommand = { type: 'RenewOrder', rates: {}, pricedMinor: 20_000_001n, at: dueAt };
    const renewing = createOrder({ allow: { expiration_auto_renewal: true } });
    const only = existing(after(renewing, offer(1, 5_000_000n), renewed, taken));
    expect([only.totalMinor, remainingMinor(only)]).toEqual([20_000_001n, 20_000_001n]);
    const another = existing(after(renewing, offer(1, 5_000_000n), offer(2, 2_000_000n), renewed, taken));
    expect([another.totalMinor, remainingMinor(another)]).toEqual([18_000_002n, 16_000_002n]);
  });
});

describe('an order that is due while no rates can be had', () => {
  const renewing = createOrder({ allow: { expiration_auto_renewal: true } });
  const inTime = { seenAt: minutesAfterNoon(59).toISOString(), at: minutesAfterNoon(61) };
  const renewAt = (minutes: number, pricedMinor: bigint): OrderCommand => ({
    type: 'RenewOrder',
    rates: {},
    pricedMinor,
    at: minutesAfterNoon(minutes),
  });
  const late = past(renewing, offer(1, 10_000_000n, { at: minutesAfterNoon(61) }));

  test('holds a payment that its rail saw after the deadline', () =>
    expect(late.map(({ type }) => type)).toEqual(['OrderCreated', 'OrderPaymentReceived']));
  test('holds it also when the payment is confirmed later', () =>
    given(...past(renewing, offer(1, 10_000_000n, { at: minutesAfterNoon(61), confirmed: false })))
      .when(offer(1, 10_000_000n, { at: minutesAfterNoon(62) }))
      .thenLike({ type: 'OrderPaymentConfirmed' }));
  test('applies a payment that its rail saw before the deadline', () =>
    given(...past(renewing))
      .when(offer(1, 10_000_000n, inTime))
      .thenLike({ type: 'OrderPaymentReceived' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' }));
  test('is settled by the held payment as soon as it has new rates', () =>
    given(...late)
      .when(renewAt(62, 9_000_000n))
      .thenLike(
        { type: 'OrderRenewed', data: { totalMinor: '9000000' } },
        {
          type: 'OrderPaymentsApplied',
          data: { allocations: [{ appliedMinor: '9000000', unappliedMinor: '1000000' }], reason: 'payment_settled' },
        },
        { type: 'OrderPaid' },
      ));
  test('takes the held payment as a part of a higher total', () =>
    given(...late)
      .when(renewAt(62, 12_000_000n))
      .thenLike({ type: 'OrderRenewed' }, { type: 'OrderPaymentsApplied', data: { status: 'partially_paid' } }));
  test('applies the held payment when the merchant moves the deadline', () =>
    given(...late)
      .when({ type: 'UpdateOrder', rateLockMaxMinutes: 1_440, expirationMinutes: 10, at: minutesAfterNoon(62) })
      .thenLike({ type: 'OrderUpdated' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' }));
  test('applies the held payment when the merchant captures it', () =>
    given(...late)
      .when({ type: 'CapturePayments', at: minutesAfterNoon(62) })
      .thenLike({ type: 'OrderPaymentsApplied', data: { reason: 'captured' } }, { type: 'OrderPaid' }));
});

test('a renewal at a lower price settles the order with the payments that it holds', () =>
  given(
    ...past(
      createOrder({ allow: { expiration_auto_renewal: true, partial_payments: false } }),
      offer(1, 4_000_000n),
      offer(2, 5_000_000n),
    ),
  )
    .when({ type: 'RenewOrder', rates: {}, pricedMinor: 9_000_000n, at: dueAt })
    .thenLike({ type: 'OrderRenewed' }, { type: 'OrderPaymentsApplied' }, { type: 'OrderPaid' }));

describe('an order that waits for the confirmation of a payment', () => {
  const waiting = [createOrder(), offer(1, 4_000_000n, { confirmed: false })];
  const late = offer(2, 6_000_000n, { at: minutesAfterNoon(61) });

  test('holds a payment that its rail saw after the deadline', () =>
    given(...past(...waiting))
      .when(late)
      .thenLike({ type: 'OrderPaymentReceived' }));
  test('makes it a late orphan when the order expires', () => {
    const order = after(...waiting, late, offer(1, 4_000_000n), expireAt(minutesAfterNoon(62)));
    expect(existing(order)).toMatchObject({
      status: 'partially_paid_expired',
      payments: [{ status: 'applied' }, { status: 'orphan', orphanReason: 'late' }],
    });
  });
  test('expires first when its timer is late and the payment is confirmed after 24 hours', () =>
    given(...past(...waiting))
      .when(offer(1, 4_000_000n, { at: minutesAfterNoon(61 + 24 * 60), seenAt: NOON.toISOString() }))
      .thenLike(
        { type: 'OrderExpired' },
        { type: 'OrderPaymentConfirmed' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'late' } },
      ));
  test('expires first when its timer is late and the payment is reported after 24 hours', () =>
    given(orderCreated())
      .when(offer(1, 10_000_000n, { at: minutesAfterNoon(61 + 24 * 60), seenAt: NOON.toISOString() }))
      .thenLike(
        { type: 'OrderExpired' },
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'late' } },
      ));
  test('expires first when its timer is late and a late payment is confirmed', () =>
    given(
      ...past(createOrder()),
      // Recorded while the clock of payments was ahead.
      {
        type: 'OrderPaymentReceived',
        data: {
          payment: payment(2, 6_000_000n, { seenAt: minutesAfterNoon(61).toISOString() }),
          confirmed: false,
          at: NOON.toISOString(),
        },
      },
    )
      .when(offer(2, 6_000_000n, { at: minutesAfterNoon(62) }))
      .thenLike(
        { type: 'OrderExpired' },
        { type: 'OrderPaymentConfirmed' },
        { type: 'OrderPaymentsOrphaned', data: { orphanReason: 'late' } },
      ));
});

describe.each([
  ['a deposit address', deposit('ethereum')],
  ['a page of an outside provider', { ...instruction, provider: 'acme' }],
])('an order with %s', (_, shown) => {
  const created = createOrder({ instructions: [shown] });
  const late = offer(2, 6_000_000n, { at: minutesAfterNoon(61) });
  const inTime = { seenAt: minutesAfterNoon(59).toISOString(), at: minutesAfterNoon(62) };

  test('is left to its timer by a payment that its rail saw after the deadline', () =>
    given(...past(created))
      .when(late)
      .thenLike({ type: 'OrderPaymentReceived' }));
  test('applies a payment that was made in time and read late, and no payment that was made late', () => {
    const order = existing(after(created, late, offer(1, 4_000_000n, inTime), expireAt(minutesAfterNoon(63))));
    expect(order).toMatchObject({
      status: 'partially_paid_expired',
      payments: [
        { status: 'orphan', orphanReason: 'late' },
        { status: 'applied', appliedMinor: 4_000_000n },
      ],
    });
  });
  test('is paid by a payment that was made in time and read late, and owes the one that was made late', () =>
    given(...past(created, late))
      .when(offer(1, 10_000_000n, inTime))
      .thenLike(
        { type: 'OrderPaymentReceived' },
        { type: 'OrderPaymentsApplied', data: { status: 'paid' } },
        { type: 'OrderPaid' },
        { type: 'OrderPaymentsOrphaned', data: { paymentIds: [paymentId(2)], orphanReason: 'already_paid' } },
      ));
  test('is paid by a payment that was made in time, read late and confirmed later', () => {
    const unconfirmed = offer(1, 10_000_000n, { ...inTime, confirmed: false });
    const confirmed = offer(1, 10_000_000n, { ...inTime, at: minutesAfterNoon(90) });
    expect(after(created, unconfirmed, expireAt(minutesAfterNoon(63)), confirmed).status).toBe('paid');
    expect(after(created, expireAt(minutesAfterNoon(61)), unconfirmed, confirmed).status).toBe('paid');
  });
  test('is paid by a payment that was made in time and read days later, while its timer waits', () => {
    const [read, later] = [minutesAfterNoon(48 * 60), minutesAfterNoon(48 * 60 + 1)];
    expect(after(created, offer(1, 10_000_000n, { ...inTime, at: read })).status).toBe('paid');
    const unconfirmed = offer(1, 10_000_000n, { ...inTime, at: read, confirmed: false });
    expect(after(created, unconfirmed, offer(1, 10_000_000n, { ...inTime, at: later })).status).toBe('paid');
    expect(after(created, unconfirmed, expireAt(later)).status).toBe('expired');
  });
});

test.each<[string, OrderEvent]>([
  [
    'renewal',
    { type: 'OrderRenewed', data: { rates: {}, totalMinor: '1', expiresAt: LATER, renewal: 1, at: NOON_ISO } },
  ],
  ['update', { type: 'OrderUpdated', data: { expiresAt: LATER, at: NOON_ISO } }],
  ['advance of the clock', { type: 'OrderTimeAdvanced', data: { minutes: 1, expiresAt: LATER, at: NOON_ISO } }],
])('after a %s that names no end of the rates, they are locked until the deadline', (_, event) => {
  const order = existing(fold(orderDecider, orderDecider.initial, [...past(createOrder()), event]));
  expect([order.expiresAt, order.ratesExpireAt]).toEqual([LATER, LATER]);
});

describe('a renewed order', () => {
  test('keeps the total of the rates at which it was paid when it is reversed', () => {
    const renewed: OrderCommand = { type: 'RenewOrder', rates: {}, pricedMinor: 20_000_000n, at: dueAt };
    const failed: OrderCommand = {
      type: 'FailPayment',
      payment: payment(1, 5_000_000n),
      failureReason: 'reorg',
      failedAt: dueAt,
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
  test('renews 24 times and then expires', () => {
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
