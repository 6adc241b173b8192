import { aDelivery } from '../testing/jest-deliveries.ts';
import { createOrdering } from './ordering.ts';

const deliveryOf = (orderId = 'ord_a', webhookId = 'whk_1') => aDelivery({ orderId, webhookId });

test('admits deliveries of one ordering key one after another, in the order of their arrival', () => {
  const ordering = createOrdering();
  const [first, second, third] = [deliveryOf(), deliveryOf(), deliveryOf()];
  expect([first, second, third].map(ordering.admit)).toEqual([true, false, false]);
  expect(ordering.complete(first)).toBe(second);
  expect(ordering.complete(second)).toBe(third);
  expect(ordering.complete(third)).toBeUndefined();
  expect(ordering.admit(deliveryOf())).toBe(true);
});

test('treats another order or another webhook as another ordering key', () => {
  const ordering = createOrdering();
  expect([deliveryOf(), deliveryOf('ord_b'), deliveryOf('ord_a', 'whk_2')].map(ordering.admit)).toEqual([
    true,
    true,
    true,
  ]);
});

test('ignores the completion of a delivery that is not the current one of its key', () => {
  const ordering = createOrdering();
  const [first, second] = [deliveryOf(), deliveryOf()];
  [first, second].map(ordering.admit);
  expect(ordering.complete(second)).toBeUndefined();
  expect(ordering.complete(aDelivery({ attempts: 1, orderId: 'ord_a' }))).toBeUndefined();
  expect(ordering.complete(first)).toBe(second);
});

test('removes waiting deliveries, but not the current one', () => {
  const ordering = createOrdering();
  const [first, second] = [deliveryOf(), deliveryOf()];
  [first, second].map(ordering.admit);
  expect(ordering.removeWaiting(() => true)).toEqual([second]);
  expect(ordering.complete(first)).toBeUndefined();
});
