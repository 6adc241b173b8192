import { withTimeout } from '../outages/with-timeout.ts';
import type pg from 'pg';
import { OutageAwareClient } from './outage.ts';
import { requireOwnSession, SharedSessionError } from './pooler.ts';
import { sessionSettings } from './session-settings.ts';

export interface AdvisoryLockOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Name of the lock. One session in the whole database can hold it. */
  readonly lock: string;
  /** Any number of sessions can hold the lock, and none while a session holds it alone. */
  readonly shared?: boolean;
  /** A statement of the session without an answer for this long fails. Its connection is silent, and the lock may be
   *  gone. By default no statement but the one that takes the lock has a limit. */
  readonly answerWithinMs?: number;
}

/** Of taking the lock and of closing the connection: a silent network answers neither. */
const ANSWER_WITHIN_MS = 3_000;

/** Another session holds the lock. */
export class AdvisoryLockTakenError extends Error {
  override readonly name = 'AdvisoryLockTakenError';
}

/** Runs `work` on its own connection, which holds a session advisory lock until `work` ends. PostgreSQL releases the
 *  lock when the connection closes, so a crashed process releases it at once. A statement on this connection can only
 *  succeed while the lock is held. `lost` aborts, with the reason, when the connection closes. Throws
 *  AdvisoryLockTakenError when another session holds the lock, and SharedSessionError when a pooler gives the session to
 *  other clients too. */
export const withAdvisoryLock = async <T>(
  { url, applicationName, lock, shared = false, answerWithinMs }: AdvisoryLockOptions,
  work: (session: pg.Client, lost: AbortSignal) => Promise<T>,
): Promise<T> => {
  const settings = sessionSettings(url);
  const session = new OutageAwareClient({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: answerWithinMs,
    keepAlive: true,
  });
  const lost = new AbortController();
  session.on('error', (error) => lost.abort(error));
  session.on('end', () => lost.abort(new Error('Connection terminated')));
  try {
    await session.connect();
    await withTimeout(ANSWER_WITHIN_MS, session.query(settings));
    const taking = session.query<{ locked: boolean; pid: number }>(
      `select pg_try_advisory_lock${shared ? '_shared' : ''}(hashtextextended($1, 1)) as locked, pg_backend_pid() as pid`,
      [lock],
    );
    const { locked, pid } = (await withTimeout(ANSWER_WITHIN_MS, taking)).rows[0]!;
    if (!locked) throw new AdvisoryLockTakenError(`another session holds the lock ${lock}`);
    await requireOwnSession(session, url).catch((error: unknown) => endShared(session, pid, error));
    return await work(session, lost.signal);
  } finally {
    await withTimeout(ANSWER_WITHIN_MS, session.end()).catch(() => session.connection.stream.destroy());
  }
};

/** Ends the session of PostgreSQL that has the lock: the pooler keeps it after this client closes its connection. */
const endShared = async (session: pg.Client, pid: number, error: unknown): Promise<never> => {
  if (error instanceof SharedSessionError)
    await session.query('select pg_terminate_backend($1)', [pid]).catch(() => {});
  throw error;
};
