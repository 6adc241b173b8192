import { Queue } from './queue.ts';

test('what goes in first comes out first, however much went through', () => {
  const queue = new Queue<number>();
  let next = 0;
  let taken = 0;
  for (let round = 0; round < 5_000; round += 1) {
    for (let n = 0; n < 3; n += 1) queue.push(next++);
    for (let n = 0; n < 2; n += 1) expect(queue.shift()).toBe(taken++);
  }
  expect(queue.length).toBe(5_000);
  expect([queue.at(0), queue.at(4_999)]).toEqual([taken, next - 1]);
  expect(queue.slice(1, 3)).toEqual([taken + 1, taken + 2]);
  queue.clear();
  expect(queue.length).toBe(0);
});
