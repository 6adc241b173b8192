import { setTimeout as sleep } from 'node:timers/promises';
import { DEPOSIT_SETTINGS_FOLD, type DepositSettings } from '@cpg/assets';
import { foldedStream } from '@cpg/event-store';
import type { EventStoreDBClient } from '@eventstore/db-client';

export interface FollowedSettings {
  /** The settings, at most a few seconds old. Null while they cannot be read: then payments decides. */
  readonly current: () => DepositSettings | null;
  readonly start: () => { stop: () => Promise<void> };
}

const POLL_MS = 1_000;
const MAX_AGE_MS = 5_000;

/** Reads the settings of merchants' deposits. */
export const readDepositSettings = (client: EventStoreDBClient): (() => Promise<DepositSettings>) =>
  foldedStream({ client, ...DEPOSIT_SETTINGS_FOLD }).read;

/** Follows the settings of merchants' deposits. `nowMs` is a monotonic clock. */
export const followDepositSettings = (
  read: () => Promise<DepositSettings>,
  nowMs: () => number = () => performance.now(),
): FollowedSettings => {
  let newest: { readonly settings: DepositSettings; readonly atMs: number } | null = null;
  return {
    current: () => (newest && nowMs() - newest.atMs <= MAX_AGE_MS ? newest.settings : null),
    start: () => {
      const stopping = new AbortController();
      const { signal } = stopping;
      const running = (async () => {
        while (!signal.aborted) {
          const atMs = nowMs();
          // An outage of the event store is reported elsewhere; no order is recorded meanwhile.
          const settings = await read().catch(() => null);
          if (settings) newest = { settings, atMs };
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
