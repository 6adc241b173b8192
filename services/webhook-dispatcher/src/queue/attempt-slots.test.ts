import { aDelivery } from '../testing/jest-deliveries.ts';
import { createAttemptSlots } from './attempt-slots.ts';

test('a slot is free again once the result is durable', () => {
  const slots = createAttemptSlots({ limit: 1, slowMs: 500 });
  const delivery = aDelivery();
  slots.take(delivery, 0);
  slots.holdUntilRecorded(delivery);
  expect(slots.isFree(1)).toBe(false);
  expect(slots.free(delivery)).toBe(true);
  expect(slots.isFree(1)).toBe(true);
  expect(slots.free(delivery)).toBe(false);
});

test('a slow attempt gives its slot back, and takes one again when it ends', () => {
  const slots = createAttemptSlots({ limit: 1, slowMs: 500 });
  const delivery = aDelivery();
  slots.take(delivery, 0);
  slots.freeSlow(499);
  expect(slots.isFree(1)).toBe(false);
  slots.freeSlow(500);
  expect(slots.isFree(1)).toBe(true);
  slots.holdUntilRecorded(delivery);
  expect(slots.isFree(1)).toBe(false);
});

test('a share of the slots is full before all are used', () => {
  const slots = createAttemptSlots({ limit: 4, slowMs: 500 });
  for (const delivery of [aDelivery(), aDelivery()]) slots.take(delivery, 0);
  expect([slots.isFree(0.5), slots.isFree(1)]).toEqual([false, true]);
});
