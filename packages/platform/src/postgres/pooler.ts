import { FatalStartError } from '../config/fatal-start-error.ts';
import type pg from 'pg';
import { OutageAwareClient } from './outage.ts';

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
  '"beside …"',
  '"gateway" and "gateway …"',
  '"orders" and "orders …"',
  '"payments" and "payments …"',
  '"webhook-dispatcher"',
];

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
