import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';
import { retry } from '../outages/retry.ts';
import { AdvisoryLockTakenError, withAdvisoryLock } from './own-session.ts';

export interface LeaderElectionOptions {
  readonly url: string;
  /** Name of the role. The database has one leader for each role. */
  readonly role: string;
  readonly log: Logger;
  /** The leader's work. It must end when `signal` aborts: the role was lost or the service stops. After a throw it is
   *  retried. */
  readonly lead: (signal: AbortSignal, isLeader: IsLeader) => Promise<void>;
}

/** Whether no other process can hold the role. After a pause, false even before `signal` aborts. */
export type IsLeader = () => boolean;

const RETRY_EVERY_MS = 1_000;
const KEEPALIVE_EVERY_MS = 1_000;
// A frozen process keeps its connection open but sends nothing. PostgreSQL ends its session after this time.
const SESSION_TIMEOUT_MS = 4_000;
// A network that swallows packets closes no connection. A leader without an answer steps down.
const ANSWER_WITHIN_MS = 3_000;

/** Campaigns for a role and runs `lead` while this process holds it. The role is a session advisory lock. A crashed
 *  leader loses the role at once, a frozen one or one without a network within seconds. A frozen leader can resume
 *  without noticing that it lost the role, so its writes must carry a fencing token. `stop` ends the work and releases
 *  the role. */
export const startLeaderElection = (options: LeaderElectionOptions): { stop: () => Promise<void> } => {
  const { role, log } = options;
  const stopping = new AbortController();
  const running = retry(() => leadOnce(options, stopping.signal), {
    signal: stopping.signal,
    maxMs: RETRY_EVERY_MS,
    firstMs: RETRY_EVERY_MS / 4,
    onError: (error) => {
      if (!(error instanceof AdvisoryLockTakenError)) log.warn({ err: error, role }, 'lost the leader role, retrying');
    },
  }).catch(() => {});
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};

/** Leads until the role is lost or the service stops. Throws unless the service stops. */
const leadOnce = async ({ url, role, log, lead }: LeaderElectionOptions, stopping: AbortSignal): Promise<void> => {
  const lock = { url, applicationName: `leader ${role}`, lock: role, answerWithinMs: ANSWER_WITHIN_MS };
  await withAdvisoryLock(lock, async (session, lost) => {
    const silent = new AbortController();
    const done = new AbortController();
    let provenMs = performance.now();
    /** Counts from the request: PostgreSQL starts its timeout later, when it answers. */
    const prove = async (statement: string): Promise<void> => {
      const askedMs = performance.now();
      await session.query(statement);
      provenMs = askedMs;
    };
    const isOver = AbortSignal.any([lost, silent.signal]);
    const isLeader = () => !isOver.aborted && performance.now() - provenMs < SESSION_TIMEOUT_MS;
    await prove(`set idle_session_timeout = ${SESSION_TIMEOUT_MS}`);
    const keepAlive = async (): Promise<void> => {
      while (!done.signal.aborted) {
        await prove('select 1').catch((error: Error) => silent.abort(error));
        await sleep(KEEPALIVE_EVERY_MS, undefined, { signal: done.signal }).catch(() => {});
      }
    };
    const keepingAlive = keepAlive();
    try {
      log.info({ role }, 'leading');
      await lead(AbortSignal.any([stopping, isOver]), isLeader);
      if (!stopping.aborted) isOver.throwIfAborted();
    } finally {
      done.abort();
      await keepingAlive;
    }
  });
  if (!stopping.aborted) throw new Error(`${role}: no longer the leader`);
};
