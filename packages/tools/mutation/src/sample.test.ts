import { onePerPlace, randomFrom, shuffled } from './sample.ts';

const NUMBERS = Array.from({ length: 100 }, (_, index) => index);

test('a seed always gives the same order, and another seed another one', () => {
  expect(shuffled(NUMBERS, randomFrom(7))).toEqual(shuffled(NUMBERS, randomFrom(7)));
  expect(shuffled(NUMBERS, randomFrom(7))).not.toEqual(shuffled(NUMBERS, randomFrom(8)));
});

test('a shuffle keeps each item once', () => {
  expect(shuffled(NUMBERS, randomFrom(7)).sort((a, b) => a - b)).toEqual(NUMBERS);
});

test('each place gives one of its items, so a place with many changes counts once', () => {
  const items = NUMBERS.map((number) => ({ place: String(number % 10), number }));

  const chosen = onePerPlace(items, ({ place }) => place, randomFrom(7));

  expect(chosen.map(({ place }) => place).sort()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
  expect(new Set(chosen.map(({ number }) => Math.floor(number / 10))).size).toBeGreaterThan(2);
});
