import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { INDEX_SCANS } from './planner.ts';
import { prepareSchema } from './schema.ts';

/** Name of the advisory lock that the one writer of a database holds: "evst" as bytes. */
const WRITER_LOCK = 0x65767374;
const LOCK_RETRY_MS = 250;
const CONNECT_WITHIN_MS = 5_000;

/** A connection that holds the writer's lock of its database for as long as it lives. What it executes is fenced:
 *  when the connection ends, the lock is gone and nothing more can be written through it. */
export interface WriterSession {
  readonly client: pg.Client;
  /** Resolves with the reason when the connection is gone. */
  readonly ended: Promise<Error>;
}

/** Connects, waits for the lock, and makes the schema. `waiting` is called once if another server holds the lock.
 *  Throws the database's error, or UnusableDatabaseError; with `signal` aborted, an AbortError. */
export const openWriterSession = async (
  url: string,
  signal: AbortSignal,
  waiting: () => void,
): Promise<WriterSession> => {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'embedded-eventstore writer',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    // With index scans alone there is one plan for each statement: it is made once.
    options: `${INDEX_SCANS} -c plan_cache_mode=force_generic_plan -c synchronous_commit=on`,
  });
  const ended = new Promise<Error>((resolve) => {
    client.once('error', resolve);
    client.once('end', () => resolve(new Error('the connection to PostgreSQL ended')));
  });
  client.on('error', () => {}); // `ended` tells; an error without a listener would end the process
  try {
    await client.connect();
    for (let first = true; !(await tryLock(client)); first = false) {
      if (first) waiting();
      await sleep(LOCK_RETRY_MS, undefined, { signal });
    }
    await prepareSchema(client);
    return { client, ended };
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
};

const tryLock = async (client: pg.Client): Promise<boolean> => {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [WRITER_LOCK]);
  return rows[0]!.locked;
};
