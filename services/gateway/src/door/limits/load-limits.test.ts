import { createLoadLimits } from './read-concurrency.ts';

test('creates are limited first, and pages and reads last', () => {
  const limits = Object.entries(createLoadLimits()).map(([name, { limit }]) => [name, limit()]);
  expect(Object.fromEntries(limits)).toEqual({ create: 128, normal: 512, page: 256, callback: 128, keyless: 128 });
});
