import { streamCache } from './state-at.ts';

test('the stream cache is bounded in bytes, not only in entries', () => {
  const cache = streamCache<{ text: string }>();
  const names = Array.from({ length: 160 }, (_, n) => `order-${n}`);
  for (const name of names) cache.set(name, { text: 'x'.repeat(500_000) });
  expect(cache.has(names[0]!)).toBe(false);
  expect(cache.has(names.at(-1)!)).toBe(true);
  expect(cache.size).toBe(134);
});
