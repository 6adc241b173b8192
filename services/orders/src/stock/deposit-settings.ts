import { DEPOSIT_SETTINGS_FOLD, type DepositSettings } from '@cpg/assets';
import { foldedStream } from '@cpg/event-store';
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
