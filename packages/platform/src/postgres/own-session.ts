import type pg from 'pg';
import { FatalStartError } from '../config/config.ts';
import { withTimeout } from '../outages/retry.ts';
import { OutageAwareClient } from './errors.ts';
import { sessionSettings } from './pool.ts';

/** A pooler gives the session of a connection to other clients while the connection is open. */
export class SharedSessionError extends FatalStartError {
  override readonly name = 'SharedSessionError';

  constructor() {
    super(
      `DATABASE_URL leads to a pooler that gives one session of PostgreSQL to several clients, as PgBouncer does with pool_mode=transaction and statement. Locks would not exclude other processes, and two instances could lead at once. Set pool_mode=session for this database, or let DATABASE_URL lead to PostgreSQL itself. These connections need sessions of their own, by their application_name: ${OWN_SESSION.join(', ')}`,
    );
  }
}

const OWN_SESSION = [
  '"leader …"',
  '"members of …"',
  '"shadow …"',
  '"gateway" and "gateway …"',
  '"orders" and "orders …"',
  '"payments" and "payments …"',
  '"webhook-dispatcher"',
];

// A silent network answers nothing.
const ANSWER_WITHIN_MS = 3_000;
// A pooler can have several processes, or hand out its sessions in turn: one more client may not get the shared one.
const OTHERS = 4;

/** Throws SharedSessionError if a pooler gives the session of `connection` to others too. `url` opens connections like
 *  it, only where there is a pooler. */
export const requireOwnSession = async (connection: pg.ClientBase, url: string): Promise<void> => {
  const pid = await pidOf(connection);
  // PostgreSQL names its process when a session starts. A pooler makes up a number.
  if ((connection as unknown as { readonly processID: number | null }).processID === pid) return;
  const others: pg.Client[] = [];
  try {
    for (let n = 0; n < OTHERS; n += 1) {
      const other = new OutageAwareClient({
        connectionString: url,
        application_name: 'pooler check',
        connectionTimeoutMillis: ANSWER_WITHIN_MS,
        query_timeout: ANSWER_WITHIN_MS,
      });
      other.on('error', () => {});
      others.push(other);
      await other.connect();
      if ((await pidOf(other)) === pid) throw new SharedSessionError();
      // In a transaction it keeps its session, so the next client gets another one. Pooling by statement refuses this.
      await other.query('begin').catch(() => {});
      if ((await pidOf(other)) === pid || (await pidOf(connection)) !== pid) throw new SharedSessionError();
    }
  } finally {
    await Promise.all(others.map((other) => other.end().catch(() => {})));
  }
};

const pidOf = async (connection: pg.ClientBase): Promise<number> => {
  const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]!.pid;
};

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

/** Another session holds the lock. */
export class AdvisoryLockTakenError extends Error {
  override readonly name = 'AdvisoryLockTakenError';
}

/** Runs `work` on its own connection, which holds a session advisory lock until `work` ends. PostgreSQL releases the
 *  lock when the connection closes, so a crashed process releases it at once. A statement on this connection can only
 *  succeed while the lock is held. `lost` aborts, with the reason, when the connection closes. Throws
 *  AdvisoryLockTakenError when another session holds the lock, and SharedSessionError when a pooler gives the session
 *  to other clients too. */
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
