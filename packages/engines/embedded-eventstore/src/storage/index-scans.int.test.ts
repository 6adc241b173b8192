import { testDatabase } from '@cpg/platform/postgres/testing';
import pg from 'pg';
import { startEventStore } from '../index.ts';
import { connect, counted, newStream, numbersIn, range } from '../testing/jest-store.ts';

test('appends and reads of a stream without statistics scan only the rows they return', async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const client = connect(server.url);
  const stream = newStream();
  for (const n of range(0, 5)) await client.appendToStream(stream, counted(...range(n * 1_000, 1_000)));
  for (const n of range(0, 20)) {
    expect(await numbersIn(client, stream, { fromRevision: BigInt(n * 200), maxCount: 10 })).toEqual(
      range(n * 200, 10),
    );
    const backwards = { direction: 'backwards', fromRevision: BigInt(n * 200), maxCount: 1 } as const;
    expect(await numbersIn(client, stream, backwards)).toEqual([n * 200]);
  }
  await client.dispose();
  await server.stop(); // PostgreSQL collects the statistics of a session at its end

  const session = new pg.Client({ connectionString: database.url });
  await session.connect();
  const counts = async () => {
    const { rows } = await session.query<{ seq: string; idx: string; ended: boolean }>(
      `select seq_tup_read as seq, idx_tup_fetch as idx,
              not exists (select from pg_stat_activity where application_name like 'embedded-eventstore%' and datname = current_database()) as ended
         from pg_stat_user_tables where relname = 'event'`,
    );
    return rows[0]!;
  };
  while (!(await counts()).ended) await new Promise((resolve) => setTimeout(resolve, 20));
  const { seq, idx } = await counts();
  await session.end();
  await database.drop();
  expect(Number(idx)).toBeGreaterThan(200);
  expect(Number(idx)).toBeLessThan(2_000);
  expect(Number(seq)).toBe(0);
});
