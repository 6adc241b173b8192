import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger, Outages } from '@cpg/platform';
import { startLeaderElection } from '@cpg/platform/postgres';

export interface LeaderRoundsOptions {
  readonly databaseUrl: string;
  /** Names the leader's lock. */
  readonly role: string;
  readonly round: (signal: AbortSignal) => Promise<void>;
  /** Called when this process no longer leads. */
  readonly onEnd: () => void;
  /** Reports an error. Returns false if it is no outage of a dependency. */
  readonly failed: Outages['failed'];
  /** Logged with the first error of several in a row that is no outage. */
  readonly failure: string;
  readonly log: Logger;
  /** How long to wait after each round, in ms. */
  readonly pauseMs: number;
}

/** Work of one process at a time that follows something. */
export interface MeasuredWork {
  readonly stop: () => Promise<void>;
  /** How far it is behind; null while another process does it. */
  readonly lagSeconds: () => number | null;
}

/** Repeats a round of work on one process at a time, whether it fails or not. */
export const startLeaderRounds = (options: LeaderRoundsOptions): { readonly stop: () => Promise<void> } => {
  const { databaseUrl, role, round, onEnd, failed, failure, log, pauseMs } = options;
  let isFailing = false;
  const tryRound = async (signal: AbortSignal): Promise<void> => {
    try {
      await round(signal);
      isFailing = false;
    } catch (err) {
      if (signal.aborted) return;
      if (!failed(err) && !isFailing) log.warn({ err }, failure);
      isFailing = true;
    }
  };
  return startLeaderElection({
    url: databaseUrl,
    role,
    log,
    lead: async (signal) => {
      try {
        while (!signal.aborted) {
          await tryRound(signal);
          await sleep(pauseMs, undefined, { signal }).catch(() => {});
        }
      } finally {
        onEnd();
      }
    },
  });
};
