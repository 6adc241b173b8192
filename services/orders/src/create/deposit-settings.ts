import { DEPOSIT_SETTINGS_FOLD, type DepositSettings, settingsOf } from '@cpg/assets';
import { foldedStream } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { type Followed, followed } from './followed.ts';

const MAX_AGE_MS = 5_000;

/** Reads the settings of merchants' deposits. */
export const readDepositSettings = (client: EventStoreDBClient): (() => Promise<DepositSettings>) =>
  foldedStream({ client, ...DEPOSIT_SETTINGS_FOLD }).read;

/** Follows the settings of merchants' deposits, at most a few seconds old. While they are unknown, payments decides.
 *  `nowMs` is a monotonic clock. */
export const followDepositSettings = (
  read: () => Promise<DepositSettings>,
  nowMs?: () => number,
): Followed<DepositSettings> => followed(read, { maxAgeMs: MAX_AGE_MS, ...(nowMs && { nowMs }) });

/** The tolerance for underpayment of a merchant, in hundredths of a percent. Reads the settings while they are not
 *  known. */
export const toleranceBpsIn =
  ({ current }: Pick<Followed<DepositSettings>, 'current'>, read: () => Promise<DepositSettings>) =>
  async (merchantId: string): Promise<number> =>
    settingsOf(current() ?? (await read()), merchantId).toleranceBps;
