import type { OrderEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import { after, existing, expireAt, given, past } from '../testing/jest-deciding.ts';
import { createOrder, deposit, DUE, minutesAfterNoon, NOON, offer } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { dueAt, remainingMinor } from './state.ts';
import { orderView } from './view.ts';

const at = (minutes: number) => minutesAfterNoon(minutes).toISOString();
const QUOTED = { rate: '0.05', source: 'kraken', quoted_at: NOON.toISOString() };
const DAY = 24 * 60;

const create = (renews: boolean, changes: Parameters<typeof createOrder>[0] = {}) =>
  createOrder({
    rates: { MXN: { ...QUOTED, expires_at: DUE } },
    allow: { expiration_auto_renewal: renews },
    ...changes,
  });
const move = (expirationMinutes: number, minute = 0, rateLockMaxMinutes = DAY): OrderCommand => ({
  type: 'UpdateOrder',
  expirationMinutes,
  rateLockMaxMinutes,
  at: minutesAfterNoon(minute),
});
const renew = (minute: number, lockedMinutes?: number): OrderCommand => ({
  type: 'RenewOrder',
  rates: { MXN: { ...QUOTED, quoted_at: at(minute), expires_at: at(minute) } },
  pricedMinor: 20_000_000n,
  ...(lockedMinutes !== undefined && { ratesExpireAt: at(minute + lockedMinutes) }),
  at: minutesAfterNoon(minute),
});
const ends = (...commands: OrderCommand[]) => {
  const order = existing(after(...commands));
  const { rates, expiration_date } = orderView(order);
  return { rates: rates.MXN!.expires_at, deadline: expiration_date, due: dueAt(order) };
};

describe('a deadline that is moved', () => {
  test('moves the end of the locked rates, later and earlier', () => {
    expect(ends(create(false), move(120))).toEqual({ rates: at(120), deadline: at(120), due: at(120) });
    expect(ends(create(false), move(5))).toEqual({ rates: at(5), deadline: at(5), due: at(5) });
  });
  test('never locks rates for longer than 24 hours from their quote', () => {
    expect(ends(create(false), move(DAY)).rates).toBe(at(DAY));
    given(...past(create(false)))
      .when(move(DAY, 1))
      .thenRefused('rate_lock_exceeded');
    given(...past(create(false)))
      .when(move(DAY + 1))
      .thenRefused('rate_lock_exceeded');
  });
  test('may lock them for as long as the configuration says', () => {
    expect(ends(create(false), move(200, 0, 240)).rates).toBe(at(200));
    given(...past(create(false)))
      .when(move(241, 0, 240))
      .thenRefused('rate_lock_exceeded');
  });
  test('is bounded by the oldest rate', () => {
    const rates = {
      MXN: { ...QUOTED, expires_at: DUE },
      EUR: { ...QUOTED, quoted_at: at(-30), expires_at: DUE },
    };
    given(...past(create(false, { rates })))
      .when(move(DAY - 29))
      .thenRefused('rate_lock_exceeded');
    expect(ends(create(false, { rates }), move(DAY - 30)).rates).toBe(at(DAY - 30));
  });
  test('is free where no rate can change', () => {
    const identity = { USDC: { rate: '1', source: 'identity', quoted_at: NOON.toISOString(), expires_at: DUE } };
    const order = orderView(existing(after(create(false, { rates: identity }), move(30 * DAY))));
    expect([order.expiration_date, order.rates.USDC!.expires_at]).toEqual([at(30 * DAY), at(30 * DAY)]);
  });
  test('may return to where an order with a long deadline was created', () =>
    expect(
      ends(
        create(false, { expirationMinutes: 3 * DAY, rates: { MXN: { ...QUOTED, expires_at: at(3 * DAY) } } }),
        move(2 * DAY),
      ),
    ).toEqual({ rates: at(2 * DAY), deadline: at(2 * DAY), due: at(2 * DAY) }));
  test('leaves the rates as they were shown, locked until the deadline, without an end of their own', () => {
    const updated: OrderEvent = {
      type: 'OrderUpdated',
      data: { expirationMinutes: 120, expiresAt: at(120), at: NOON.toISOString() },
    };
    const order = existing(fold(orderDecider, orderDecider.initial, [...past(create(true)), updated]));
    expect([order.rates.MXN!.expires_at, dueAt(order)]).toEqual([DUE, at(120)]);
  });
});

describe('an order that renews, with a deadline beyond its locked rates', () => {
  const long = [create(true), move(3 * DAY)];

  test('keeps its deadline, and is due when its rates end', () =>
    expect(ends(...long)).toEqual({ rates: at(DAY), deadline: at(3 * DAY), due: at(DAY) }));
  test('also when it was created with it', () =>
    expect(ends(create(true, { expirationMinutes: 3 * DAY, ratesExpireAt: at(DAY) }))).toMatchObject({
      deadline: at(3 * DAY),
      due: at(DAY),
    }));
  test('gets new rates when they end, and keeps its deadline', () => {
    given(...past(...long))
      .when(renew(DAY - 1, DAY))
      .thenNothing();
    given(...past(...long))
      .when(renew(DAY, DAY))
      .thenLike({
        type: 'OrderRenewed',
        data: { totalMinor: '20000000', expiresAt: at(3 * DAY), ratesExpireAt: at(2 * DAY), renewal: 0 },
      });
    expect(ends(...long, renew(DAY, DAY))).toEqual({ rates: at(2 * DAY), deadline: at(3 * DAY), due: at(2 * DAY) });
  });
  test('does not expire when its rates end, also after 24 renewals', () => {
    const renewals = Array.from({ length: 24 }, (_, n) => renew(60 * (n + 1)));
    const worn = [create(true), ...renewals, move(3 * DAY, 60 * 24 + 1)];
    expect(existing(after(...worn)).renewals).toBe(24);
    const end = 60 * 24 + DAY;
    expect(ends(...worn, renew(end, DAY)).deadline).toBe(at(60 * 24 + 1 + 3 * DAY));
    given(...past(...worn))
      .when(expireAt(minutesAfterNoon(end)))
      .thenRefused('order_state_conflict');
  });
  test('locks new rates no longer than until its deadline, which then moves on', () => {
    const last = [...long, renew(DAY, DAY), renew(2 * DAY, 5 * DAY)];
    expect(ends(...last)).toEqual({ rates: at(3 * DAY), deadline: at(3 * DAY), due: at(3 * DAY) });
    expect(existing(after(...last, renew(3 * DAY))).renewals).toBe(1);
    expect(ends(...last, renew(3 * DAY)).deadline).toBe(at(6 * DAY));
  });
  test('holds money that its rail saw after its rates ended, until it has new ones', () => {
    const held = [...long, offer(1, 10_000_000n, { at: minutesAfterNoon(DAY + 1) })];
    expect(existing(after(...held))).toMatchObject({ status: 'awaiting_payment', payments: [{ status: 'received' }] });
    expect(remainingMinor(existing(after(...held, renew(DAY + 2, DAY))))).toBe(10_000_000n);
    const inTime = offer(1, 10_000_000n, { seenAt: at(DAY - 1), at: minutesAfterNoon(DAY + 1) });
    expect(existing(after(...long, inTime)).status).toBe('paid');
  });
  test('waits with new rates for the confirmation of money that was seen before they ended', () => {
    const pending = offer(1, 10_000_000n, { confirmed: false, at: minutesAfterNoon(DAY - 1) });
    given(...past(...long, pending))
      .when(renew(DAY, DAY))
      .thenNothing();
  });
  test('gets older with its clock', () => {
    const advanced: OrderCommand = { type: 'AdvanceTime', minutes: 60, at: NOON };
    expect(ends(...long, advanced)).toEqual({ rates: at(DAY - 60), deadline: at(3 * DAY - 60), due: at(DAY - 60) });
    given(...past(create(false), advanced, move(DAY - 60)))
      .when(move(DAY - 59))
      .thenRefused('rate_lock_exceeded');
  });
  test('gets older each time that its clock is advanced', () => {
    const advanced: OrderCommand = { type: 'AdvanceTime', minutes: 20, at: NOON };
    const twice = [create(false), advanced, advanced];
    expect(ends(...twice, move(DAY - 40)).rates).toBe(at(DAY - 40));
    given(...past(...twice))
      .when(move(DAY - 39))
      .thenRefused('rate_lock_exceeded');
  });
  test('gets older with its clock also if its rates were quoted in that instant', () => {
    const quoted_at = new Date(NOON.getTime() + 1).toISOString();
    // An event is recorded a millisecond after the one before at the earliest.
    const advanced: OrderCommand = { type: 'AdvanceTime', minutes: 60, at: NOON };
    const quoted = create(false, { rates: { MXN: { ...QUOTED, quoted_at, expires_at: DUE } } });
    given(...past(quoted, advanced))
      .when(move(DAY - 59))
      .thenRefused('rate_lock_exceeded');
  });
  test('shows until when its amount holds', () => {
    const order = existing(after(create(true, { instructions: [deposit('ethereum')] }), move(3 * DAY)));
    expect(orderView(order).deposit_instructions[0]!.expires_at).toBe(at(DAY));
  });
});
