import { connectEventStore } from '../store/connect.ts';
import { createLogger } from '@cpg/platform';
import { startProjection } from '../followers/projection.ts';
import { startTallies } from '../testing/jest-tallies.ts';
import { until } from '../testing/jest-until.ts';

const log = createLogger({ name: 'test', level: process.env.LOG_LEVEL ?? 'silent' });
let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeAll(async () => {
  tallies = await startTallies();
});
afterAll(() => tallies.stop());

/** Whether the checkpoint has passed the newest event of a stream. */
const isPassed = async (id: string) =>
  (await tallies.pool.query('select from tallies.checkpoints where event_stream = $1', [`tally-${id}`])).rowCount;

test('a live projection makes rows again that a PostgreSQL crash lost with the checkpoint', async () => {
  const { pool, databaseUrl, eventStoreUrl, projection } = tallies;
  const client = connectEventStore(eventStoreUrl);
  const running = startProjection({ client, pool, databaseUrl, projection, log, pauseMs: () => 0 });
  await tallies.tally('before', 1);
  await until(() => isPassed('before'));
  await pool.query('create table tallies.survived as select * from tallies.checkpoints');
  await tallies.tally('lost', 2);
  await until(() => isPassed('lost'));

  // As after a crash, but the projection keeps its connections and its place in the log.
  await pool.query(`
    with lost as (delete from tallies.tallies where id = 'lost')
    update tallies.checkpoints as current set commit_position = survived.commit_position, prepare_position = survived.prepare_position,
      event_id = survived.event_id, event_stream = survived.event_stream
    from tallies.survived where current.name = survived.name`);
  await tallies.tally('after', 3);
  await until(() => isPassed('after'));
  expect((await tallies.rows()).map(({ id, n }) => [id, n])).toEqual([
    ['after', 3],
    ['before', 1],
    ['lost', 2],
  ]);
  await running.stop();
  await client.dispose();
});
