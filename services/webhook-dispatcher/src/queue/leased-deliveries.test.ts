import { aDelivery } from '../testing/jest-deliveries.ts';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';
import { EndpointQueue } from './leased-deliveries.ts';

const queueOf = (...deliveries: Parameters<EndpointQueue['add']>[0][]) => {
  const queue = new EndpointQueue('whk_1', ENDPOINT_LIMITS);
  for (const delivery of deliveries) queue.add(delivery);
  return queue;
};
const ofOrder = (orderId = 'ord_a') => aDelivery({ orderId });

test('first attempts of one order run one after another, in the order of their arrival', () => {
  const [first, second, third] = [ofOrder(), ofOrder(), ofOrder()];
  const queue = queueOf(first, second, third);
  expect(queue.ready).toEqual([first]);
  queue.complete(first);
  expect(queue.ready).toEqual([first, second]);
  queue.complete(second);
  expect(queue.ready).toEqual([first, second, third]);
  queue.complete(third);
  const later = ofOrder();
  queue.add(later);
  expect(queue.ready).toEqual([first, second, third, later]);
});

test('deliveries of different orders, and retries, do not wait for each other', () => {
  const deliveries = [ofOrder(), ofOrder('ord_b'), aDelivery({ orderId: 'ord_a', attempts: 1 })];
  expect(queueOf(...deliveries).ready).toEqual(deliveries);
});

test('ignores the completion of a delivery that is not the current one of its order', () => {
  const [first, second, retry] = [ofOrder(), ofOrder(), aDelivery({ orderId: 'ord_a', attempts: 1 })];
  const queue = queueOf(first, second);
  for (const delivery of [second, retry]) queue.complete(delivery);
  expect(queue.ready).toEqual([first]);
});

test('cancels waiting deliveries, but not the one in flight', () => {
  const [first, second] = [ofOrder(), ofOrder()];
  const queue = queueOf(first, second);
  queue.ready.shift();
  expect(queue.cancelWaiting(() => true)).toEqual([second]);
  queue.complete(first);
  expect(queue.ready).toEqual([]);
});

test('the next delivery of an order is ready when the one before it is canceled', () => {
  const [first, second] = [ofOrder(), ofOrder()];
  const queue = queueOf(first, second);
  expect(queue.cancelWaiting((delivery) => delivery === first)).toEqual([first]);
  expect(queue.ready).toEqual([second]);
});
