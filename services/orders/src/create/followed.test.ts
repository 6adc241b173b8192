import { setImmediate as settled } from 'node:timers/promises';
import { depositSettingsAfter, noDepositSettings } from '@cpg/assets';
import { AppError } from '@cpg/contracts';
import { followAvailability, followDepositSettings, toleranceBpsIn } from './followed.ts';

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
  let [nowMs, isAway] = [0, true];
  const followed = followDepositSettings(
    async () => {
      if (isAway) throw new Error('the event store is unavailable');
      return noDepositSettings;
    },
    () => nowMs,
  );
  const readOnce = async () => {
    const following = followed.start();
    await settled();
    await following.stop();
    return followed.current();
  };
  expect(await readOnce()).toBeNull();
  isAway = false;
  expect(await readOnce()).toBe(noDepositSettings);
  isAway = true;
  nowMs = 5_000;
  expect(await readOnce()).toBe(noDepositSettings);
  nowMs = 5_001;
  expect(await readOnce()).toBeNull();
});

test('reads the tolerance of a merchant while the settings are not known', async () => {
  const settings = depositSettingsAfter(noDepositSettings, [
    {
      event: {
        type: 'UnderpaymentToleranceSet',
        data: { merchantId: 'A', toleranceBps: 50, at: '2026-01-31T12:00:00.000Z' },
      },
      metadata: {},
    },
  ]);
  const read = async () => settings;
  const followed = followDepositSettings(read, () => 0);
  expect(followed.current()).toBeNull();
  const toleranceBpsOf = toleranceBpsIn(followed, read);
  expect([await toleranceBpsOf('A'), await toleranceBpsOf('B')]).toEqual([50, 0]);
});
