import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase } from '@cpg/platform/postgres/testing';
import pg from 'pg';
import { startEventStore } from '../index.ts';
import { connect, counted, inDatabase, isReclaimed, newStream, until } from '../testing/jest-store.ts';
import { Reclaimer } from './reclaimer.ts';

test('a removal at any moment of a run is reclaimed', async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 }); // makes the tables
  const reclaimer = new Reclaimer({ databaseUrl: database.url, log: fail, head: () => 0n, delayMs: 0 });
  const session = new pg.Client({ connectionString: database.url });
  await session.connect();
  // On an open session it is fast: the next removal then often comes while the run ends.
  const isDone = async (): Promise<boolean> => {
    const { rows } = await session.query<{ done: boolean }>(
      'select removed = reclaimed as done from eventstore.removal',
    );
    return rows[0]!.done;
  };

  for (let afterMs = 0; afterMs < 30; afterMs++) {
    reclaimer.schedule();
    await sleep(afterMs);
    await session.query('update eventstore.removal set removed = removed + 1');
    reclaimer.schedule();
    while (!(await isDone())) await sleep(5);
  }

  await session.end();
  await reclaimer.stop();
  await server.stop();
  await database.drop();
});

test('frees the space without a rewrite while events are appended, and rewrites the table afterwards', async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 });
  const client = connect(server.url);
  const [kept, removed] = [newStream(), newStream()];
  for (const stream of [kept, removed]) await client.appendToStream(stream, counted(1, 2));
  await client.tombstoneStream(removed);
  const table = async () => {
    const [row] = await inDatabase<{ file: string; vacuums: number }>(
      database.url,
      `select pg_relation_filenode('eventstore.event')::text as file,
              pg_stat_get_vacuum_count('eventstore.event'::regclass)::int as vacuums`,
    );
    return row!;
  };
  const before = await table();

  let isBusy = true;
  let position = 0n;
  const head = () => (isBusy ? ++position : position);
  const reclaimer = new Reclaimer({ databaseUrl: database.url, log: fail, head, delayMs: 0 });
  reclaimer.schedule();
  await until(async () => (await table()).vacuums >= before.vacuums + 2);
  expect((await table()).file).toBe(before.file);
  expect(await isReclaimed(database.url)).toBe(false);

  isBusy = false;
  await until(() => isReclaimed(database.url));
  expect((await table()).file).not.toBe(before.file);

  await reclaimer.stop();
  await client.dispose();
  await server.stop();
  await database.drop();
});

const fail = (line: string): never => {
  throw new Error(line);
};
