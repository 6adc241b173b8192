import { aDelivery } from '../testing/jest-deliveries.ts';
import { createLanes } from './lanes.ts';

const inLane = (orderId = 'ord_a', webhookId = 'whk_1') => aDelivery({ orderId, webhookId });

test('deliveries of a lane go one after another, in the order in which they came', () => {
  const lanes = createLanes();
  const [first, second, third] = [inLane(), inLane(), inLane()];
  expect([first, second, third].map(lanes.enter)).toEqual([true, false, false]);
  expect(lanes.leave(first)).toBe(second);
  expect(lanes.leave(second)).toBe(third);
  expect(lanes.leave(third)).toBeUndefined();
  expect(lanes.enter(inLane())).toBe(true);
});

test('another order, or the same order for another webhook, is another lane', () => {
  const lanes = createLanes();
  expect([inLane(), inLane('ord_b'), inLane('ord_a', 'whk_2')].map(lanes.enter)).toEqual([true, true, true]);
});

test('who is not at the head of its lane moves nobody on', () => {
  const lanes = createLanes();
  const [first, second] = [inLane(), inLane()];
  [first, second].map(lanes.enter);
  expect(lanes.leave(second)).toBeUndefined();
  expect(lanes.leave(aDelivery({ attempts: 1, orderId: 'ord_a' }))).toBeUndefined();
  expect(lanes.leave(first)).toBe(second);
});

test('those that wait can be taken out; who is at the head stays', () => {
  const lanes = createLanes();
  const [first, second] = [inLane(), inLane()];
  [first, second].map(lanes.enter);
  expect(lanes.removeWaiting(() => true)).toEqual([second]);
  expect(lanes.leave(first)).toBeUndefined();
});
