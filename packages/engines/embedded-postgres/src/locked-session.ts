import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface LockedSessionOptions {
  readonly databaseUrl: string;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  /** Key of the session advisory lock. One process at a time holds it in a database. */
  readonly lockKey: number;
  /** How log lines and errors call the process that holds the lock, for instance "broker". */
  readonly holder: string;
  /** PostgreSQL settings of the session, by name. */
  readonly settings?: Readonly<Record<string, string>>;
}

export interface LockedSessionCalls {
  /** Until when the session waits for the lock, in ms since 1970. */
  readonly giveUpAt: number;
  /** Ends the wait for the lock. */
  readonly signal: AbortSignal;
  /** Called with the reason of the wait, again and again while another process holds the lock. */
  readonly onWaiting: (reason: string) => void;
  /** Called when the connection breaks or ends. */
  readonly onEnd: (session: pg.Client, error: Error) => void;
}

/** Another process holds the lock of this database. */
export class WriterLockTaken extends Error {
  override readonly name = 'WriterLockTaken';
}

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 30_000;
const LOCK_POLL_MS = 250;

/** A connection that holds an advisory lock, and whose commits are durable whatever the database's default is.
 *  Throws WriterLockTaken after `giveUpAt`, an AbortError after an abort, and errors of the connection. */
export const openLockedSession = async (
  options: LockedSessionOptions,
  { giveUpAt, signal, onWaiting, onEnd }: LockedSessionCalls,
): Promise<pg.Client> => {
  const session = new pg.Client({
    connectionString: options.databaseUrl,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  });
  session.on('error', (error) => onEnd(session, error));
  session.on('end', () => onEnd(session, new Error('the session ended')));
  try {
    await session.connect();
    // Set by a query, because `pg` ignores its own option when the connection string has `options`.
    await applySettings(session, { ...options.settings, synchronous_commit: 'on' });
    const taken = `another ${options.holder} writes to this database: stop it, or use another database`;
    while (!(await tryLock(session, options.lockKey))) {
      if (performance.now() > giveUpAt) throw new WriterLockTaken(taken);
      onWaiting(taken);
      await sleep(LOCK_POLL_MS, undefined, { signal });
    }
    return session;
  } catch (error) {
    await session.end().catch(() => {});
    throw error;
  }
};

const tryLock = async (session: pg.Client, key: number): Promise<boolean> => {
  const { rows } = await session.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [key]);
  return rows[0]!.locked;
};

const applySettings = async (session: pg.Client, settings: Readonly<Record<string, string>>): Promise<void> => {
  await session.query('select set_config(name, value, false) from unnest($1::text[], $2::text[]) as s(name, value)', [
    Object.keys(settings),
    Object.values(settings),
  ]);
};
