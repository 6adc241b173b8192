import pg from 'pg';
import { execute } from './database.ts';

/** Ends the session that writes, as a crash of PostgreSQL does. */
export const endWriterSession = (databaseUrl: string): Promise<void> =>
  execute(
    databaseUrl,
    `select pg_terminate_backend(pid) from pg_stat_activity
     where application_name = 'embedded-kafka' and datname = current_database()`,
  );

/** Lets no record be stored, until `release`. */
export const blockStoring = async (databaseUrl: string): Promise<{ release: () => Promise<void> }> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin; lock table kafka.batch in exclusive mode');
  return { release: () => client.end() };
};
