import type { OrderEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  applied,
  capture,
  confirmed,
  decisions,
  dueAt,
  existing,
  expireAt,
  expired,
  fail,
  given,
  orphaned,
  paid,
  past,
  received,
  refund,
  renew,
} from '../testing/jest-deciding.ts';
import {
  createOrder,
  deposit,
  DUE,
  instruction,
  minutesAfterNoon,
  NOON,
  offer,
  payment,
  paymentId,
} from '../testing/orders.ts';
import { orderDecider } from './order.ts';

const NOON_ISO = NOON.toISOString();
const LATER = minutesAfterNoon(120).toISOString();
const DAY = 24 * 60;
const msBefore = (at: Date) => new Date(at.getTime() - 1);

const inWhole = createOrder({ allow: { partial_payments: false } });
const renewing = createOrder({ allow: { expiration_auto_renewal: true } });
const renewed = { type: 'OrderRenewed' } as const;

describe('deadline', () => {
  const pending = [createOrder(), offer(1, 10_000_000n, { confirmed: false })];

  decisions({
    'expires an open order': {
      given: [createOrder()],
      when: expireAt(dueAt),
      then: [{ type: 'OrderExpired', data: { status: 'expired' } }],
    },
    'does not expire it a millisecond before': {
      given: [createOrder()],
      when: expireAt(msBefore(dueAt)),
      then: 'order_state_conflict',
    },
    'changes nothing when it comes twice': {
      given: [createOrder(), expireAt(dueAt)],
      when: expireAt(dueAt),
      then: [],
    },
    'makes a partially paid order partially_paid_expired': {
      given: [createOrder(), offer(1, 4_000_000n)],
      when: expireAt(dueAt),
      order: { status: 'partially_paid_expired' },
    },
    'makes held payments orphans': {
      given: [inWhole, offer(1, 4_000_000n)],
      when: expireAt(dueAt),
      order: { status: 'expired', payments: [{ status: 'orphan', orphanReason: 'insufficient' }] },
    },
    'makes only those held payments late that came after it': {
      given: [
        createOrder({ allow: { partial_payments: false }, instructions: [instruction, deposit('ethereum')] }),
        offer(1, 4_000_000n),
        offer(2, 3_000_000n, { at: minutesAfterNoon(61) }),
      ],
      when: expireAt(minutesAfterNoon(62)),
      order: { payments: [{ orphanReason: 'insufficient' }, { orphanReason: 'late' }] },
    },
    'lets a capture apply what was insufficient': {
      given: [inWhole, offer(1, 4_000_000n), expireAt(dueAt)],
      when: capture,
      then: [applied({ status: 'partially_paid_expired' })],
    },
    'waits for an unconfirmed payment that was seen before': { given: pending, when: expireAt(dueAt), then: [] },
    'waits for it until a millisecond before 24 hours later': {
      given: pending,
      when: expireAt(msBefore(minutesAfterNoon(60 + DAY))),
      then: [],
    },
    'waits for it for 24 hours': {
      given: pending,
      when: expireAt(minutesAfterNoon(60 + DAY)),
      then: [expired],
    },
    'waits for an unconfirmed payment that was seen at this very instant': {
      given: [
        createOrder(),
        offer(1, 10_000_000n, { confirmed: false, seenAt: dueAt.toISOString(), at: minutesAfterNoon(61) }),
      ],
      when: expireAt(minutesAfterNoon(61)),
      then: [],
    },
    'is in time for a payment of this very instant that is reported after it, although the timer is late': {
      given: [createOrder()],
      when: offer(1, 10_000_000n, { seenAt: dueAt.toISOString(), at: minutesAfterNoon(61) }),
      then: [received, applied(), paid],
    },
  });

  test('of an order without recorded reasons makes its orphans late', () => {
    const data = { status: 'expired', reason: 'deadline_passed', at: dueAt.toISOString() } as const;
    const withoutReasons: OrderEvent = { type: 'OrderExpired', data: { orphanedPaymentIds: [paymentId(1)], ...data } };
    const events = [...past(inWhole, offer(1, 4_000_000n)), withoutReasons];
    const order = existing(fold(orderDecider, orderDecider.initial, events));
    expect(order.payments[0]).toMatchObject({ status: 'orphan', orphanReason: 'late' });
  });
});

describe('renewal', () => {
  const rates = { USDC: { rate: '1', source: 'identity', quoted_at: dueAt.toISOString(), expires_at: DUE } };
  const paidInPart = [renewing, offer(1, 5_000_000n)];
  const paidByTwo = [...paidInPart, offer(2, 2_000_000n)];
  const inPlaceOfOne = renew(20_000_001n);
  const hourly = (n: number) => renew(10_000_000n, minutesAfterNoon(60 * n));
  const often = [renewing, ...Array.from({ length: 24 }, (_, n) => hourly(n + 1))];

  test('locks the new rates until the new deadline, and names no end of their own', () =>
    given(...past(renewing))
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
      }));

  decisions({
    'takes the place of the expiry': { given: paidInPart, when: expireAt(dueAt), then: 'order_state_conflict' },
    'sets new rates, and applied payments keep their value': {
      given: paidInPart,
      when: renew(12_000_001n),
      then: [{ type: 'OrderRenewed', data: { totalMinor: '11000001', renewal: 1, expiresAt: LATER } }],
    },
    'prices the missing part': { given: paidInPart, when: renew(20_000_000n), order: { remaining: 10_000_000n } },
    'at the same price leaves the amount due': {
      given: [...paidInPart, renew(20_000_000n)],
      when: renew(20_000_000n, minutesAfterNoon(120)),
      order: { remaining: 10_000_000n },
    },
    'prices the part of a payment that failed': {
      given: [...paidInPart, inPlaceOfOne],
      when: fail(1, 5_000_000n, dueAt),
      order: { totalMinor: 20_000_001n, remaining: 20_000_001n },
    },
    'prices the part of a payment that failed beside another': {
      given: [...paidByTwo, inPlaceOfOne],
      when: fail(1, 5_000_000n, dueAt),
      order: { totalMinor: 18_000_002n, remaining: 16_000_002n },
    },
    'prices the part of a payment that was refunded in full': {
      given: [...paidInPart, inPlaceOfOne],
      when: refund(1, 5_000_000n, dueAt),
      order: { totalMinor: 20_000_001n, remaining: 20_000_001n },
    },
    'prices the part of a payment that was refunded in full beside another': {
      given: [...paidByTwo, inPlaceOfOne],
      when: refund(1, 5_000_000n, dueAt),
      order: { totalMinor: 18_000_002n, remaining: 16_000_002n },
    },
    'leaves the total of the rates at which the order was paid when it is reversed': {
      given: [...paidInPart, renew(20_000_000n), offer(2, 10_000_000n)],
      when: fail(1, 5_000_000n, dueAt),
      order: { status: 'reversed', remaining: 5_000_000n },
    },
    'at a lower price settles the order with the payments that it holds': {
      given: [
        createOrder({ allow: { expiration_auto_renewal: true, partial_payments: false } }),
        offer(1, 4_000_000n),
        offer(2, 5_000_000n),
      ],
      when: renew(9_000_000n),
      then: [renewed, applied(), paid],
    },
    'comes 24 times': {
      given: often.slice(0, -1),
      when: hourly(24),
      then: [{ type: 'OrderRenewed', data: { renewal: 24 } }],
    },
    'comes no more than 24 times': { given: often, when: renew(1n, minutesAfterNoon(60 * 25)), then: [] },
    'gives way to the expiry after 24 times': {
      given: often,
      when: expireAt(minutesAfterNoon(60 * 25)),
      then: [expired],
    },
  });
});

describe('an order that is due while no rates can be had', () => {
  const late = (changes: object = {}) => offer(1, 10_000_000n, { at: minutesAfterNoon(61), ...changes });
  const seenInTime = { seenAt: minutesAfterNoon(59).toISOString() };
  const at = minutesAfterNoon(62);

  decisions({
    'holds a payment that its rail saw after the deadline': { given: [renewing], when: late(), then: [received] },
    'holds it also when the payment is confirmed later': {
      given: [renewing, late({ confirmed: false })],
      when: late({ at }),
      then: [confirmed],
    },
    'applies a payment that its rail saw before the deadline': {
      given: [renewing],
      when: late(seenInTime),
      then: [received, applied(), paid],
    },
    'is settled by the held payment as soon as it has new rates': {
      given: [renewing, late()],
      when: renew(9_000_000n, at),
      then: [
        { type: 'OrderRenewed', data: { totalMinor: '9000000' } },
        applied({
          allocations: [{ appliedMinor: '9000000', unappliedMinor: '1000000' }],
          reason: 'payment_settled',
        }),
        paid,
      ],
    },
    'takes the held payment as a part of a higher total': {
      given: [renewing, late()],
      when: renew(12_000_000n, at),
      then: [renewed, applied({ status: 'partially_paid' })],
    },
    'applies the held payment when the merchant moves the deadline': {
      given: [renewing, late()],
      when: { type: 'UpdateOrder', rateLockMaxMinutes: 1_440, expirationMinutes: 10, at },
      then: [{ type: 'OrderUpdated' }, applied(), paid],
    },
    'applies the held payment when the merchant captures it': {
      given: [renewing, late()],
      when: { type: 'CapturePayments', at },
      then: [applied({ reason: 'captured' }), paid],
    },
  });
});

describe('an order that waits for the confirmation of a payment', () => {
  const waiting = [createOrder(), offer(1, 4_000_000n, { confirmed: false })];
  const late = offer(2, 6_000_000n, { at: minutesAfterNoon(61) });
  const afterADay = { at: minutesAfterNoon(61 + DAY), seenAt: NOON_ISO };

  decisions({
    'holds a payment that its rail saw after the deadline': { given: waiting, when: late, then: [received] },
    'makes it a late orphan when the order expires': {
      given: [...waiting, late, offer(1, 4_000_000n)],
      when: expireAt(minutesAfterNoon(62)),
      order: { status: 'partially_paid_expired', payments: ['applied', { status: 'orphan', orphanReason: 'late' }] },
    },
    'expires first when its timer is late and the payment is confirmed after 24 hours': {
      given: waiting,
      when: offer(1, 4_000_000n, afterADay),
      then: [expired, confirmed, orphaned('late')],
    },
    'expires first when its timer is late and the payment is reported after 24 hours': {
      given: [createOrder()],
      when: offer(1, 10_000_000n, afterADay),
      then: [expired, received, orphaned('late')],
    },
  });

  test('expires first when its timer is late and a late payment is confirmed', () => {
    const seenAt = minutesAfterNoon(61).toISOString();
    const byAClockAhead: OrderEvent = {
      type: 'OrderPaymentReceived',
      data: { payment: payment(2, 6_000_000n, { seenAt }), confirmed: false, at: NOON_ISO },
    };
    given(...past(createOrder()), byAClockAhead)
      .when(offer(2, 6_000_000n, { at: minutesAfterNoon(62) }))
      .thenLike(expired, confirmed, orphaned('late'));
  });
});

describe.each([
  ['a deposit address', deposit('ethereum')],
  ['a page of an outside provider', { ...instruction, provider: 'acme' }],
])('an order with %s', (_, shown) => {
  const created = createOrder({ instructions: [shown] });
  const late = offer(2, 6_000_000n, { at: minutesAfterNoon(61) });
  /** Made in time, and read at this minute. */
  const inTime = (minute: number, amountMinor = 10_000_000n, confirmedThen = true) =>
    offer(1, amountMinor, {
      seenAt: minutesAfterNoon(59).toISOString(),
      at: minutesAfterNoon(minute),
      confirmed: confirmedThen,
    });
  const unconfirmed = (minute: number) => inTime(minute, 10_000_000n, false);

  decisions({
    'is left to its timer by a payment that its rail saw after the deadline': {
      given: [created],
      when: late,
      then: [received],
    },
    'applies a payment that was made in time and read late, and no payment that was made late': {
      given: [created, late, inTime(62, 4_000_000n)],
      when: expireAt(minutesAfterNoon(63)),
      order: {
        status: 'partially_paid_expired',
        payments: [
          { status: 'orphan', orphanReason: 'late' },
          { status: 'applied', appliedMinor: 4_000_000n },
        ],
      },
    },
    'is paid by a payment that was made in time and read late, and owes the one that was made late': {
      given: [created, late],
      when: inTime(62),
      then: [received, applied({ status: 'paid' }), paid, orphaned('already_paid', { paymentIds: [paymentId(2)] })],
    },
    'is paid by a payment that was made in time, read late and confirmed after the timer came': {
      given: [created, unconfirmed(62), expireAt(minutesAfterNoon(63))],
      when: inTime(90),
      order: { status: 'paid' },
    },
    'is paid by a payment that was made in time, read after the expiry and confirmed later': {
      given: [created, expireAt(minutesAfterNoon(61)), unconfirmed(62)],
      when: inTime(90),
      order: { status: 'paid' },
    },
    'is paid by a payment that was made in time and read days later, while its timer waits': {
      given: [created],
      when: inTime(2 * DAY),
      order: { status: 'paid' },
    },
    'is paid by a payment that was made in time, read days later and then confirmed, while its timer waits': {
      given: [created, unconfirmed(2 * DAY)],
      when: inTime(2 * DAY + 1),
      order: { status: 'paid' },
    },
    'expires when its timer comes days later, although a payment was made in time and is unconfirmed': {
      given: [created, unconfirmed(2 * DAY)],
      when: expireAt(minutesAfterNoon(2 * DAY + 1)),
      order: { status: 'expired' },
    },
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
