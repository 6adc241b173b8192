import { fold } from '@cpg/event-sourcing/decider';
import { after, existing, past } from '../testing/jest-deciding.ts';
import { createOrder, minutesAfterNoon, NOON, offer, paymentId } from '../testing/orders.ts';
import type { OrderCommand } from './command.ts';
import { orderDecider } from './order.ts';
import { orderView } from './view.ts';

const update = (table: string, at: Date): OrderCommand => ({
  type: 'UpdateOrder',
  rateLockMaxMinutes: 1_440,
  metadata: { table },
  at,
});
const refund = (minute: number, at: Date): OrderCommand => ({
  type: 'RefundPayment',
  paymentId: paymentId(1),
  refundId: `rfd_${'0'.repeat(26)}`,
  refundedTotalMinor: 10_000_000n,
  refundedAt: minutesAfterNoon(minute),
  at,
});
const updatedAt = (...commands: OrderCommand[]) => existing(after(...commands)).updatedAt;

test('each command of one millisecond gets its own `updated_at`', () => {
  const commands = [createOrder(), update('1', NOON), update('2', NOON), update('3', NOON)];
  const times = commands.map((_, index) => updatedAt(...commands.slice(0, index + 1)));
  expect(times).toEqual([0, 1, 2, 3].map((ms) => new Date(NOON.getTime() + ms).toISOString()));
});

test('`updated_at` does not move back when the clock does', () => {
  const events = past(createOrder(), update('1', minutesAfterNoon(5)), update('2', minutesAfterNoon(1)));
  expect(events.map(({ data: { at } }) => at)).toEqual([
    NOON.toISOString(),
    minutesAfterNoon(5).toISOString(),
    new Date(minutesAfterNoon(5).getTime() + 1).toISOString(),
  ]);
});

test('all events of one command have the same time', () => {
  const events = past(createOrder(), offer(1, 12_000_000n, { at: NOON })).slice(1);
  expect(events.length).toBeGreaterThan(1);
  expect(new Set(events.map(({ data: { at } }) => at)).size).toBe(1);
});

test('a refund that the order learns of late counts from then, and its payment shows when it happened', () => {
  const order = existing(
    after(createOrder(), offer(1, 10_000_000n), update('1', minutesAfterNoon(9)), refund(2, minutesAfterNoon(10))),
  );
  const { updated_at, payments } = orderView(order);
  expect(updated_at).toBe(minutesAfterNoon(10).toISOString());
  expect(payments[0]!.updated_at).toBe(minutesAfterNoon(2).toISOString());
});

test('events that were recorded out of order do not move `updated_at` back', () => {
  const [created, ...rest] = past(createOrder(), offer(1, 10_000_000n, { at: minutesAfterNoon(5) }));
  const told = { type: 'OrderUpdated' as const, data: { metadata: { told: 'late' }, at: NOON.toISOString() } };
  const order = existing(fold(orderDecider, orderDecider.initial, [created!, ...rest, told]));
  expect([order.metadata, order.updatedAt]).toEqual([{ told: 'late' }, minutesAfterNoon(5).toISOString()]);
});
