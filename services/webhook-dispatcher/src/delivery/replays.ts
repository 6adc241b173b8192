import { setTimeout as sleep } from 'node:timers/promises';
import { type Pool, transaction } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';
import {
  finishReplay,
  moveReplay,
  nextEvents,
  type ReplayRequest,
  type ReplayRow,
  startReplay,
  takeTurn,
  waitingOf,
} from '../storage/replays.ts';
import { requeue } from '../storage/requeue.ts';

export interface Replays {
  /** Starts a replay and makes its first step, so a small one is queued when this resolves. Null while another one of the webhook runs. */
  readonly start: (request: ReplayRequest) => Promise<ReplayRow | null>;
  readonly stop: () => Promise<void>;
}

export interface ReplayPace {
  /** Events of one step. */
  readonly batch?: number;
  /** A webhook for which so many deliveries wait gets no more by a replay, so that what happens now is not far behind them. */
  readonly waitingAtMost?: number;
  readonly restMs?: number;
}

export interface ReplaysOptions extends ReplayPace {
  readonly pool: Pool;
  readonly now: () => Date;
  readonly log: Logger;
}

/** Replays that wait for their endpoints are looked at so many at a time. */
const FULL_AT_MOST = 20;

interface Step {
  readonly outcome: 'none' | 'moved' | 'full';
  readonly replayId?: string;
}

/** Feeds replays into the queue, a batch per transaction together with how far it got: any instance may go on where another one died. */
export const startReplays = (options: ReplaysOptions): Replays => {
  const { pool, now, log, batch = 200, waitingAtMost = 1_000, restMs = 1_000 } = options;
  const stopping = new AbortController();

  const step = (id: string | null): Promise<Step> =>
    transaction(pool, async (db) => {
      const at = now();
      const replay = await takeTurn(db, id, at);
      if (!replay) return { outcome: 'none' };
      const { id: replayId, webhook_id: webhookId } = replay;
      if (!replay.is_on) {
        await finishReplay(db, replayId, at);
        log.info({ webhookId, replayId }, 'replay ended: the webhook is off or gone');
        return { outcome: 'moved' };
      }
      if ((await waitingOf(db, webhookId, waitingAtMost)) >= waitingAtMost) return { outcome: 'full', replayId };
      const events = await nextEvents(db, replay, batch);
      if (events.length > 0) {
        await requeue(db, { webhookId, events, now: at });
        await moveReplay(db, replayId, events.at(-1)!);
      }
      if (events.length < batch) {
        await finishReplay(db, replayId, at);
        log.info({ webhookId, replayId, events: replay.events }, 'replay queued');
      }
      return { outcome: 'moved' };
    });
  /** Steps until nothing moves any more: there is no replay, or each one waits for its endpoint. */
  const round = async (): Promise<void> => {
    const full = new Set<string>();
    while (!stopping.signal.aborted) {
      const { outcome, replayId } = await step(null);
      if (outcome === 'none' || (replayId && (full.has(replayId) || full.size >= FULL_AT_MOST))) return;
      if (replayId) full.add(replayId);
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      await round().catch((error: unknown) => log.warn({ err: error }, 'a replay could not go on, trying again'));
      await sleep(restMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const running = run();
  return {
    start: async (request) => {
      const replay = await startReplay(pool, request, now());
      if (replay)
        await step(replay.id).catch((error: unknown) =>
          log.warn({ err: error, replayId: replay.id }, 'a replay could not go on, trying again'),
        );
      return replay;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
