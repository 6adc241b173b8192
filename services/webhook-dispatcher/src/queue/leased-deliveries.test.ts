import { aDelivery } from '../testing/jest-deliveries.ts';
import { ENDPOINT_LIMITS } from '../attempts/endpoint.ts';
import { EndpointQueue, LeasedDeliveries } from './leased-deliveries.ts';

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
  const retry = aDelivery({ orderId: 'ord_a', attempts: 1 });
  const others = [ofOrder(), ofOrder('ord_b')];
  expect(queueOf(...others, retry).ready).toEqual([...others, retry]);
  expect(queueOf(retry, ...others).ready).toEqual([retry, ...others]);
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

describe('the memory of an instance', () => {
  const BYTES = aDelivery().event.body.length;
  const limits = { ...ENDPOINT_LIMITS, concurrency: { initial: 2, max: 2 }, bufferedPerAttempt: 4 };
  /** Room for `deliveries`, and the bytes of as many or fewer of them. */
  const memoryOf = ({ deliveries = 100, bodies = 100 } = {}) =>
    new LeasedDeliveries(limits, { deliveries, bytes: bodies * BYTES, attempts: 10 });
  const fill = (memory: LeasedDeliveries, count: number, webhookId = 'whk_1') => {
    const deliveries = Array.from({ length: count }, () => aDelivery({ webhookId }));
    for (const delivery of deliveries) memory.add(delivery);
    return deliveries;
  };

  test('counts deliveries, bytes and webhooks until they leave', () => {
    const memory = memoryOf({ bodies: 10 });
    const [first, second] = fill(memory, 2);
    const [other] = fill(memory, 1, 'whk_2');
    const counts = () => [memory.size, memory.busyQueues, memory.freeBytes / BYTES];
    expect(counts()).toEqual([3, 2, 7]);
    expect(memory.positions()).toEqual([first!, second!, other!].map(({ position }) => position));
    for (const delivery of [first!, first!, other!]) memory.remove(delivery);
    expect(counts()).toEqual([1, 1, 9]);
  });

  test('keeps an earlier lease of a delivery', () => {
    const memory = memoryOf();
    const [first] = fill(memory, 1);
    const again = { ...first! };
    expect(memory.add(again)).toBeNull();
    memory.remove(again);
    expect(memory.size).toBe(1);
  });

  test.each([
    [{ deliveries: 8 }, 7, false],
    [{ deliveries: 8 }, 8, true],
    [{ bodies: 8 }, 7, false],
    [{ bodies: 8 }, 8, true],
  ])('with room for %j is scarce with %i deliveries: %s', (room, count, isScarce) => {
    const memory = memoryOf(room);
    fill(memory, count);
    expect(memory.isScarce).toBe(isScarce);
  });

  test.each([
    ['nothing', {}, 0, 8],
    ['half of its buffer', {}, 4, 4],
    ['more than half of its buffer', {}, 5, 0],
    ['most of the memory for deliveries', { deliveries: 6 }, 2, 4],
    ['all bytes but one delivery', { bodies: 3 }, 2, 6],
    ['all bytes', { bodies: 2 }, 2, 0],
  ])('asks for more deliveries of a webhook that uses %s', (_, room, used, demand) => {
    const memory = memoryOf(room);
    fill(memory, used);
    expect(memory.demandOf('whk_1', 0)).toBe(demand);
  });

  test('gives an endpoint that fails only its half', () => {
    const memory = memoryOf({ deliveries: 6 });
    const { endpoint } = memory.queueOf('whk_1');
    endpoint.fail({}, 0);
    fill(memory, 1, 'whk_2');
    expect(memory.demandOf('whk_1', 0)).toBe(2);
  });

  test('admits what fits, and after a refusal nothing more of that webhook', () => {
    const memory = memoryOf({ deliveries: 12 });
    fill(memory, 6);
    const admits = memory.admission(0);
    const asked = ['whk_1', 'whk_1', 'whk_1', 'whk_2', 'whk_2', 'whk_2', 'whk_2', 'whk_2', 'whk_3'];
    expect(asked.map((id) => admits(id, 1))).toEqual([true, true, false, true, true, true, true, false, false]);
  });

  test('admits no later delivery of a webhook after one that it refused, although memory became free', () => {
    const memory = memoryOf({ deliveries: 2 });
    const [first] = fill(memory, 2);
    const admits = memory.admission(0);
    expect(admits('whk_1', 1)).toBe(false);
    memory.remove(first!);
    expect([admits('whk_1', 1), admits('whk_2', 1)]).toEqual([false, true]);
  });

  test('admits bytes until all are used', () => {
    const admits = memoryOf({ bodies: 2 }).admission(0);
    expect([BYTES, BYTES - 1, 1, 1].map((bytes, index) => admits(`whk_${index}`, bytes))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test('evicts webhooks that are idle for long and have no delivery', () => {
    const memory = memoryOf();
    const [delivery] = fill(memory, 1);
    fill(memory, 1, 'whk_2');
    memory.remove(delivery!);
    memory.evictStale(limits.maxOpenMs);
    expect(memory.find('whk_1')).toBeDefined();
    memory.evictStale(limits.maxOpenMs + 1);
    expect(memory.queues().map(({ webhookId }) => webhookId)).toEqual(['whk_2']);
  });
});
