import pg from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;

/** Frees the space of deleted batches on the disk: PostgreSQL reuses it, or cuts it off at the end of the file.
 *  Throws when PostgreSQL is unavailable or `signal` aborts. */
export const vacuumBatches = async (databaseUrl: string, signal: AbortSignal): Promise<void> => {
  // Not a session of the writer: VACUUM takes long on a large table, and nothing may wait for it.
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'embedded-kafka vacuum',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => {}); // the query fails too
  const end = () => void client.end().catch(() => {});
  try {
    // Not earlier: a connect() that is ended meanwhile never settles.
    await client.connect();
    signal.addEventListener('abort', end);
    signal.throwIfAborted();
    await client.query('vacuum kafka.batch');
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
};
