import { setTimeout as sleep } from 'node:timers/promises';
import { DEPOSIT_SETTINGS_FOLD, type DepositSettings, settingsOf } from '@cpg/assets';
import type { Availability } from '@cpg/contracts';
import { foldedStream } from '@cpg/event-sourcing';
import type { EventStoreDBClient } from '@eventstore/db-client';

/** A value that is read once a second. */
export interface Followed<T> {
  /** The value that was read last; null before, and once it is older than `maxAgeMs`. */
  readonly current: () => T | null;
  readonly start: () => { stop: () => Promise<void> };
}

const POLL_MS = 1_000;

/** Follows what `read` resolves to. `sentAtMs` is when the read began. `nowMs` is a monotonic clock. */
const followed = <T>(
  read: (sentAtMs: number) => Promise<T>,
  { maxAgeMs = Infinity, nowMs = () => performance.now() }: { maxAgeMs?: number; nowMs?: () => number } = {},
): Followed<T> => {
  let newest: { readonly value: T; readonly atMs: number } | null = null;
  return {
    current: () => (newest && nowMs() - newest.atMs <= maxAgeMs ? newest.value : null),
    start: () => {
      const stopping = new AbortController();
      const { signal } = stopping;
      const running = (async () => {
        while (!signal.aborted) {
          const atMs = nowMs();
          // An outage is reported elsewhere, and the last value becomes too old.
          const value = await read(atMs).catch(() => null);
          if (value !== null) newest = { value, atMs };
          await sleep(POLL_MS, undefined, { signal }).catch(() => {});
        }
      })();
      return {
        stop: () => {
          stopping.abort();
          return running;
        },
      };
    },
  };
};

/** Follows which networks payments reads. What it said last holds for as long as it said, also while payments is
 *  unavailable: nobody reads chains then. `nowMs` is a monotonic clock. */
export const followAvailability = (
  read: () => Promise<Pick<Availability, 'networks'>>,
  nowMs: () => number = () => performance.now(),
) => {
  const ends = followed(
    async (sentAtMs) => {
      const { networks } = await read();
      return new Map(Object.entries(networks).map(([name, forMs]) => [name, sentAtMs + forMs]));
    },
    { nowMs },
  );
  /** Whether new orders may show addresses on a network now. */
  const isAvailable = (network: string): boolean => nowMs() < (ends.current()?.get(network) ?? -Infinity);
  return { isAvailable, start: ends.start };
};

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
