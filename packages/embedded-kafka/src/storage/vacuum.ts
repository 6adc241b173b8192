import pg from 'pg';

/** Frees the space of deleted batches on the disk: PostgreSQL reuses it, or cuts it off at the end of the file.
 *  Throws when PostgreSQL is unavailable or `signal` aborts. */
export const vacuumBatches = async (databaseUrl: string, signal: AbortSignal): Promise<void> => {
  // Not a session of the writer: VACUUM takes long on a large table, and nothing may wait for it.
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'embedded-kafka vacuum' });
  client.on('error', () => {}); // the query fails too
  const end = () => void client.end().catch(() => {});
  signal.addEventListener('abort', end);
  try {
    signal.throwIfAborted();
    await client.connect();
    await client.query('vacuum kafka.batch');
  } finally {
    signal.removeEventListener('abort', end);
    end();
  }
};
