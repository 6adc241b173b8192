import pg from 'pg';

/** Runs SQL in the database of `url` on a connection of its own. */
export const execute = async (url: string, sql: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sql).finally(() => client.end());
};
