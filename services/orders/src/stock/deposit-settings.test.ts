import { setImmediate as settled } from 'node:timers/promises';
import { noDepositSettings } from '@cpg/assets';
import { followDepositSettings } from './deposit-settings.ts';

test('settings that were not read for seconds count as unknown', async () => {
  let nowMs = 1_000;
  const followed = followDepositSettings(
    async () => noDepositSettings,
    () => nowMs,
  );
  expect(followed.current()).toBeNull();
  const following = followed.start();
  await settled();
  expect(followed.current()).toBe(noDepositSettings);
  nowMs += 5_000;
  expect(followed.current()).toBe(noDepositSettings);
  nowMs += 1;
  expect(followed.current()).toBeNull();
  await following.stop();
});

test('an outage leaves the settings as they were, until they are too old', async () => {
  const followed = followDepositSettings(
    async () => {
      throw new Error('the event store is unavailable');
    },
    () => 0,
  );
  const following = followed.start();
  await settled();
  expect(followed.current()).toBeNull();
  await following.stop();
});
