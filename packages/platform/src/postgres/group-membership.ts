import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../log/logger.ts';
import { retry } from '../outages/retry.ts';
import { withAdvisoryLock } from './own-session.ts';

/** The place of this process among the members of a group, in the order in which they joined. */
export interface Membership {
  /** 0 for the member that joined first. */
  readonly rank: number;
  readonly members: number;
}

export interface GroupMembershipOptions {
  readonly url: string;
  readonly group: string;
  readonly log: Logger;
  /** Called every second, with null while this process is not a member. */
  readonly onMembership: (membership: Membership | null) => void;
}

const LOOK_EVERY_MS = 1_000;
// A frozen process keeps its connection open but sends nothing. PostgreSQL ends its session after this time.
const SESSION_TIMEOUT_MS = 4_000;
// A network that swallows packets closes no connection.
const ANSWER_WITHIN_MS = 3_000;

// pg_locks shows a bigint key as two halves.
const MEMBERS = `
  select pid, pid = pg_backend_pid() as own
  from pg_locks join pg_stat_activity using (pid)
  where locktype = 'advisory' and mode = 'ShareLock' and granted and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
    and (classid::bigint << 32 | objid::bigint) = hashtextextended($1, 1)
  order by backend_start, pid`;

/** Joins a group of processes. A member is a session with a shared advisory lock, so a crashed process leaves at once,
 *  and a frozen one within seconds. */
export const joinGroup = ({ url, group, log, onMembership }: GroupMembershipOptions): { stop: () => Promise<void> } => {
  const stopping = new AbortController();
  const lock = `members of ${group}`;
  const stayMember = () =>
    withAdvisoryLock(
      { url, applicationName: lock, lock, shared: true, answerWithinMs: ANSWER_WITHIN_MS },
      async (session, lost) => {
        await session.query(`set idle_session_timeout = ${SESSION_TIMEOUT_MS}`);
        const ended = AbortSignal.any([stopping.signal, lost]);
        while (!ended.aborted) {
          const { rows } = await session.query<{ own: boolean }>(MEMBERS, [lock]);
          onMembership({ rank: rows.findIndex(({ own }) => own), members: rows.length });
          await sleep(LOOK_EVERY_MS, undefined, { signal: ended }).catch(() => {});
        }
        stopping.signal.throwIfAborted();
        lost.throwIfAborted();
      },
    ).finally(() => onMembership(null));
  const running = retry(stayMember, {
    signal: stopping.signal,
    firstMs: LOOK_EVERY_MS / 4,
    maxMs: LOOK_EVERY_MS,
    onError: (error) => log.warn({ err: error, group }, 'lost the membership of a group, retrying'),
  }).catch(() => {});
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
};
