import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@cpg/contracts';
import { type Pool, transaction } from '@cpg/platform/postgres';
import type { Logger } from '@cpg/platform';
import type { History } from './past-events.ts';
import { dayOf, firstLastingDay, type Partitions, type Retention } from '../queue/partitions.ts';
import { enqueueReplayedEvents, partitionDayOf } from './replayed-events.ts';
import {
  addQueuedEvents,
  advanceReplay,
  cancelReplay,
  type ClaimedReplay,
  claimReplay,
  countUnleased,
  createReplay,
  MAX_RETRY_MS,
  postponeReplay,
  type ReplayRequest,
  type ReplayRow,
} from './replay-table.ts';
import { loadReplayBatch } from './past-events.ts';

export interface Replays {
  /** Resolves once the replay is durable. Null while another replay of the webhook runs. */
  readonly start: (request: ReplayRequest) => Promise<ReplayRow | null>;
  readonly stop: () => Promise<void>;
}

export interface ReplayPace {
  readonly ordersPerStep?: number;
  /** A replay pauses while its webhook has this many unleased deliveries, so that current events are not delayed for
   *  long. */
  readonly maxQueued?: number;
  readonly pollMs?: number;
}

export interface ReplaysOptions extends ReplayPace {
  readonly pool: Pool;
  readonly history: History;
  readonly partitions: Pick<Partitions, 'ensure'>;
  readonly retention: Retention;
  /** The id under which this instance leases now. */
  readonly holder: () => string;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Refuses replays: for a dispatcher that has no ORDERS_URL and PAYMENTS_URL. */
export const replaysUnavailable: Replays = {
  start: async () => {
    throw new AppError(
      'dependency_unavailable',
      'replays are not configured: the operator must set ORDERS_URL and PAYMENTS_URL of the webhook dispatcher',
    );
  },
  stop: async () => {},
};

/** Queues the events of replays, step by step. Each step loads a batch without a transaction, then commits its events
 *  and the new cursor in one. A failed step leaves nothing behind, and any instance continues the replay of a crashed
 *  one. */
export const startReplays = (options: ReplaysOptions): Replays => {
  const { pool, holder, now, log, pollMs = 1_000 } = options;
  const stopping = new AbortController();
  let wake = () => {};

  /** Returns false when there is no replay to continue. */
  const step = async (): Promise<boolean> => {
    const replay = await claimReplay(pool, holder(), now());
    if (!replay) return false;
    try {
      await continueReplay(replay, options, stopping.signal);
    } catch (error) {
      // When this instance has stopped, another one repeats the step.
      if (stopping.signal.aborted) return true;
      const failures = replay.failures + 1;
      log.warn({ err: error, replayId: replay.id, failures }, 'replay step failed, will retry');
      const waitMs = Math.min(MAX_RETRY_MS, pollMs * 2 ** Math.min(failures - 1, 10));
      await postponeReplay(pool, replay, { until: later(now(), waitMs), failures });
    }
    return true;
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      const stepped = await step().catch((error: unknown) => {
        log.warn({ err: error }, 'reading replays failed, will retry');
        return false;
      });
      if (!stepped) await pause();
    }
  };
  const pause = async () => {
    const woken = new AbortController();
    wake = () => woken.abort();
    await sleep(pollMs, undefined, { signal: AbortSignal.any([stopping.signal, woken.signal]) }).catch(() => {});
  };
  const running = run();
  return {
    start: async (request) => {
      const replay = await createReplay(pool, request, now());
      wake();
      return replay;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

const later = (at: Date, ms: number) => new Date(at.getTime() + ms);

/** Runs one step of a replay. */
const continueReplay = async (replay: ClaimedReplay, options: ReplaysOptions, signal: AbortSignal): Promise<void> => {
  const { pool, history, partitions, retention, now, log } = options;
  const { ordersPerStep = 10, maxQueued = 1_000, pollMs = 1_000 } = options;
  const { id: replayId, webhook_id: webhookId } = replay;
  if (replay.is_webhook_deleted) {
    await cancelReplay(pool, { id: replayId, webhookId, now: now() });
    log.info({ webhookId, replayId }, 'replay canceled: its webhook is deleted');
    return;
  }
  if ((await countUnleased(pool, webhookId, maxQueued)) >= maxQueued) {
    await postponeReplay(pool, replay, { until: later(now(), pollMs), failures: 0 });
    return;
  }
  const { events, isLast, ...progress } = await loadReplayBatch(history, replay, ordersPerStep, signal);
  if (progress.deferred.length > replay.deferred.length)
    log.error({ webhookId, replayId, orderIds: progress.deferred }, 'orders cannot be replayed yet: others go on');
  const at = now();
  const days = { today: dayOf(at), lastingFrom: firstLastingDay(at, retention) };
  await partitions.ensure(events.map((event) => partitionDayOf(event, days)));
  const isAdvanced = await transaction(pool, async (db) => {
    if (!(await advanceReplay(db, replay, progress, isLast ? at : null))) return false;
    await addQueuedEvents(db, replay, await enqueueReplayedEvents(db, { webhookId, events, ...days, now: at }));
    return true;
  });
  if (isLast && isAdvanced) log.info({ webhookId, replayId }, 'replay finished: all its events are queued');
};
