import pg from 'pg';
import { withSettings } from './settings.ts';

export interface SessionOptions {
  readonly url: string;
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** What nobody else may hold meanwhile, in the whole database. */
  readonly role: string;
}

/** Another session holds the role. */
export class RoleTakenError extends Error {
  override readonly name = 'RoleTakenError';
}

/** Does `work` on a connection of its own that holds a role: a session advisory lock, which a process that dies lets go at once. What `work`
 *  does on this connection cannot happen after the role was lost, for it was lost with the connection; `lost` says so. Throws
 *  RoleTakenError when another has the role. */
export const holdRole = async <T>(
  { url, name, role }: SessionOptions,
  work: (session: pg.Client, lost: AbortSignal) => Promise<T>,
): Promise<T> => {
  const session = new pg.Client({
    connectionString: withSettings(url),
    application_name: name,
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
  });
  const lost = new AbortController();
  session.on('error', () => lost.abort());
  session.on('end', () => lost.abort());
  try {
    await session.connect();
    const { rows } = await session.query<{ held: boolean }>(
      'select pg_try_advisory_lock(hashtextextended($1, 1)) as held',
      [role],
    );
    if (!rows[0]?.held) throw new RoleTakenError(`${role} is held by another`);
    return await work(session, lost.signal);
  } finally {
    await session.end().catch(() => {});
  }
};
