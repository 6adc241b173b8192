import { setTimeout as sleep } from 'node:timers/promises';
import { testDatabase } from '@cpg/postgres';
import pg from 'pg';
import { startEventStore } from '../index.ts';
import { Reclaimer } from './reclaimer.ts';

test('a removal at any moment of a run is reclaimed', async () => {
  const database = await testDatabase();
  const server = await startEventStore({ databaseUrl: database.url, port: 0 }); // makes the tables
  const reclaimer = new Reclaimer({ databaseUrl: database.url, log: fail, delayMs: 0 });
  const session = new pg.Client({ connectionString: database.url });
  await session.connect();
  // On an open session it is fast: the next removal then often comes while the run ends.
  const isReclaimed = async (): Promise<boolean> => {
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
    while (!(await isReclaimed())) await sleep(5);
  }

  await session.end();
  await reclaimer.stop();
  await server.stop();
  await database.drop();
});

const fail = (line: string): never => {
  throw new Error(line);
};
