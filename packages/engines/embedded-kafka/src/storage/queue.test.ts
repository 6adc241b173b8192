import { Queue } from './tail-cache.ts';

test('items come out in the order they went in, across compactions', () => {
  const queue = new Queue<number>();
  let next = 0;
  let expected = 0;
  for (let round = 0; round < 5_000; round += 1) {
    for (let n = 0; n < 3; n += 1) queue.push(next++);
    for (let n = 0; n < 2; n += 1) expect(queue.shift()).toBe(expected++);
  }
  expect(queue.length).toBe(5_000);
  expect([queue.at(0), queue.at(4_999)]).toEqual([expected, next - 1]);
  expect(queue.slice(1, 3)).toEqual([expected + 1, expected + 2]);
  queue.clear();
  expect(queue.length).toBe(0);
});
