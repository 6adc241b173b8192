import { loseStore } from '../testing/jest-lost-store.ts';

test.each([
  ['esdb+discover:', 300],
  ['esdb+discover:', 4_000],
  ['esdb+discover:', 20_000],
  ['esdb:', 300],
  ['esdb:', 4_000],
] as const)('%s a store away for %i ms is written and followed again after its return', async (scheme, awayMs) => {
  const { writtenMs, receivedMs } = await loseStore(scheme, awayMs);
  expect(writtenMs).toBeLessThan(Infinity);
  expect(receivedMs).toBeLessThan(Infinity);
});
