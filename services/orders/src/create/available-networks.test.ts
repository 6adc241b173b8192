import { setImmediate as settled } from 'node:timers/promises';
import { AppError } from '@cpg/contracts';
import { followAvailability } from './available-networks.ts';

test('a network is available for as long as payments said, counted from before the call', async () => {
  let nowMs = 1_000;
  const followed = followAvailability(
    async () => {
      nowMs += 100;
      return { networks: { ethereum: 60_000 } };
    },
    () => nowMs,
  );
  expect(followed.isAvailable('ethereum')).toBe(false);
  const following = followed.start();
  await settled();
  expect(followed.isAvailable('ethereum')).toBe(true);
  expect(followed.isAvailable('bitcoin')).toBe(false);
  nowMs = 60_999;
  expect(followed.isAvailable('ethereum')).toBe(true);
  nowMs = 61_000;
  expect(followed.isAvailable('ethereum')).toBe(false);
  await following.stop();
});

test('no network is available while payments was never reached', async () => {
  const followed = followAvailability(async () => {
    throw new AppError('dependency_unavailable', 'payments is temporarily unavailable');
  });
  const following = followed.start();
  await settled();
  expect(followed.isAvailable('ethereum')).toBe(false);
  await following.stop();
});
