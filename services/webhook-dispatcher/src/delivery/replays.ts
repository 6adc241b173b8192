import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '@cpg/core';
import { type Pool, transaction } from '@cpg/postgres';
import type { Logger } from '@cpg/runtime';
import type { History } from '../clients/history.ts';
import { dayOf, firstLastingDay, type Partitions, type Retention } from '../storage/partitions.ts';
import {
  countQueued,
  finishReplay,
  moveReplay,
  type ReplayRequest,
  type ReplayRow,
  type ReplayTurn,
  setAside,
  startReplay,
  takeTurn,
  waitingOf,
} from '../storage/replays.ts';
import { retell, rowDayOf } from '../storage/retell.ts';
import { recall } from './recall.ts';

export interface Replays {
  /** Resolves once the replay is durable. Null while another one of the webhook runs. */
  readonly start: (request: ReplayRequest) => Promise<ReplayRow | null>;
  readonly stop: () => Promise<void>;
}

export interface ReplayPace {
  /** Orders of one turn. */
  readonly ordersAtOnce?: number;
  /** A webhook for which so many deliveries wait gets no more by a replay, so that what happens now is not far behind them. */
  readonly waitingAtMost?: number;
  readonly restMs?: number;
}

export interface ReplaysOptions extends ReplayPace {
  readonly pool: Pool;
  readonly history: History;
  readonly partitions: Pick<Partitions, 'ensure'>;
  readonly retention: Retention;
  /** Under which name this instance leases now. */
  readonly holder: () => string;
  readonly now: () => Date;
  readonly log: Logger;
}

/** For a dispatcher that was not told where to ask. */
export const noReplays: Replays = {
  start: async () => {
    throw new AppError(
      'dependency_unavailable',
      'this webhook dispatcher was not told where orders and payments are: its operator sets ORDERS_URL and PAYMENTS_URL',
    );
  },
  stop: async () => {},
};

const RETRY_AT_MOST_MS = 15_000;

/** Feeds replays into the queue, turn by turn: asks for what comes next, with no transaction open, then queues it in one together with how
 *  far that is. A turn that breaks leaves nothing behind, and any instance goes on where another one died. */
export const startReplays = (options: ReplaysOptions): Replays => {
  const { pool, history, partitions, retention, holder, now, log } = options;
  const { ordersAtOnce = 10, waitingAtMost = 1_000, restMs = 1_000 } = options;
  const stopping = new AbortController();
  let wake = () => {};

  const advance = async (replay: ReplayTurn): Promise<void> => {
    const { id: replayId, webhook_id: webhookId } = replay;
    if (!replay.is_on) {
      await finishReplay(pool, replay, now());
      log.info({ webhookId, replayId }, 'replay ended: the webhook is off or gone');
      return;
    }
    if ((await waitingOf(pool, webhookId, waitingAtMost)) >= waitingAtMost) {
      await setAside(pool, replay, { until: later(restMs), failures: 0 });
      return;
    }
    const { events, reached, isEnd } = await recall(history, replay, ordersAtOnce, stopping.signal);
    const at = now();
    const days = { today: dayOf(at), lastingFrom: firstLastingDay(at, retention) };
    await partitions.ensure(events.map((event) => rowDayOf(event, days)));
    await transaction(pool, async (db) => {
      if (!(await moveReplay(db, replay, reached, isEnd ? at : null))) return;
      await countQueued(db, replay, await retell(db, { webhookId, events, ...days, now: at }));
    });
    if (isEnd) log.info({ webhookId, replayId }, 'replay queued');
  };
  const later = (ms: number) => new Date(now().getTime() + ms);

  /** False when no replay waits for a turn. */
  const turn = async (): Promise<boolean> => {
    const replay = await takeTurn(pool, holder(), now());
    if (!replay) return false;
    await advance(replay).catch(async (error: unknown) => {
      // Once this instance has ended, the turn is another's.
      if (stopping.signal.aborted) return;
      const failures = replay.failures + 1;
      log.warn({ err: error, replayId: replay.id, failures }, 'a replay could not go on, trying again');
      const waitMs = Math.min(RETRY_AT_MOST_MS, restMs * 2 ** Math.min(failures - 1, 10));
      await setAside(pool, replay, { until: later(waitMs), failures });
    });
    return true;
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      const moved = await turn().catch((error: unknown) => {
        log.warn({ err: error }, 'replays could not be looked at, trying again');
        return false;
      });
      if (!moved) await rest();
    }
  };
  const rest = async () => {
    const woken = new AbortController();
    wake = () => woken.abort();
    await sleep(restMs, undefined, { signal: AbortSignal.any([stopping.signal, woken.signal]) }).catch(() => {});
  };
  const running = run();
  return {
    start: async (request) => {
      const replay = await startReplay(pool, request, now());
      wake();
      return replay;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
