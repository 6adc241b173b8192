import { fold } from '@cpg/event-sourcing/decider';
import { after, cancel, dueAt, expireAt, given, past } from '../testing/jest-deciding.ts';
import { createOrder, minutesAfterNoon, NOON, offer, orderCreated } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';

describe('advancing the clock', () => {
  const advance = (minutes: number, at = NOON): OrderCommand => ({ type: 'AdvanceTime', minutes, at });

  test('moves the deadline closer', () =>
    given(orderCreated())
      .when(advance(45))
      .thenLike({ type: 'OrderTimeAdvanced', data: { minutes: 45, expiresAt: minutesAfterNoon(15).toISOString() } }));
  test('makes what a rail saw before as much older, also when it is reported later', () => {
    const paid = minutesAfterNoon(1);
    const advanced = [createOrder(), advance(90, minutesAfterNoon(2))];
    const reported = { seenAt: paid.toISOString(), at: minutesAfterNoon(3) };
    expect(after(...advanced, expireAt(minutesAfterNoon(2)), offer(1, 10_000_000n, reported)).status).toBe('paid');
    const seenAfterwards = offer(1, 10_000_000n, { at: minutesAfterNoon(3) });
    expect(after(...advanced, expireAt(minutesAfterNoon(2)), seenAfterwards).status).toBe('expired');
  });
  test('makes the order expire', () =>
    expect(after(createOrder(), advance(60), expireAt(NOON))).toMatchObject({ status: 'expired' }));
  test('moves earlier payments into the past, so that an unconfirmed payment still keeps the order open for 24 hours', () => {
    const pending = past(createOrder(), offer(1, 10_000_000n, { confirmed: false }), advance(90));
    given(...pending)
      .when(expireAt(NOON))
      .thenNothing();
    given(...pending, ...orderDecider.decide(advance(24 * 60), fold(orderDecider, orderDecider.initial, pending)))
      .when(expireAt(NOON))
      .thenLike({ type: 'OrderExpired' });
  });
  test('counts as a change, of which an order has 1000', () => {
    const advances = Array.from({ length: 1_000 }, () => advance(1));
    const created = createOrder({ expirationMinutes: 2_000 });
    const last = past(created, ...advances.slice(1));
    expect(fold(orderDecider, orderDecider.initial, last)).toMatchObject({ status: 'awaiting_payment', changes: 999 });
    given(...past(created, ...advances))
      .when(advance(1))
      .thenRefused('update_not_allowed');
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
