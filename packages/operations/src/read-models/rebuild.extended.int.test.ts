import { rebuild } from './rebuild.ts';
import { busyWriters } from '../testing/jest-busy-writers.ts';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';
import { verify } from './verify.ts';
import { until } from '../../../event-sourcing/src/testing/jest-until.ts';

let tallies: Awaited<ReturnType<typeof startTallies>>;

beforeAll(async () => {
  tallies = await startTallies();
  for (let n = 0; n < 300; n += 1) await tallies.tally(`old-${n % 40}`, n);
  await tallies.remove('old-3');
});

afterAll(() => tallies.stop());

/** The names of constraints and indexes. */
const names = async () =>
  (
    await tallies.pool.query(
      `select conrelid::regclass::text as of, conname as name from pg_constraint where connamespace = 'tallies'::regnamespace
       union all select indrelid::regclass::text, indexrelid::regclass::text from pg_index where indrelid = 'tallies.tallies'::regclass
       order by 1, 2`,
    )
  ).rows;

test('rebuilds under load: every write is visible at once, and all rows are correct afterwards', async () => {
  const before = await names();
  const rows = await tallies.rows();
  await tallies.corrupt();
  const writers = busyWriters(tallies, 'busy', 6);
  for (let round = 0; round < 5; round += 1) {
    const written = writers.last.size;
    await rebuild(tallies.options());
    await until(async () => writers.last.size >= Math.min(written + 1, 30));
  }
  const last = await writers.stop();
  const now = await tallies.rows();
  expect(now.filter(({ id }) => !id.startsWith('busy'))).toEqual(rows);
  expect(new Map(now.filter(({ id }) => id.startsWith('busy')).map(({ id, n }) => [id, n]))).toEqual(last);
  expect(await names()).toEqual(before);
  expect(await tallies.shadowSchemas()).toBe(0);
});

test('a swap that cannot get its lock gives up, retries, and loses no write', async () => {
  const application = 'shadow tallies.tallies';
  const isWaiting = async () =>
    (
      await tallies.pool.query(
        "select 1 from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock' and query like 'drop table%'",
        [application],
      )
    ).rowCount;
  const reader = await tallies.pool.connect();
  await reader.query('begin');
  // The default timeout of 5 s could end this transaction before the swap waits for it.
  await reader.query('set local idle_in_transaction_session_timeout = 0');
  await reader.query('select count(*) from tallies.tallies');
  const writers = busyWriters(tallies, 'waiting', 3);
  const rebuilding = rebuild(tallies.options());
  await until(isWaiting);
  await until(async () => !(await isWaiting()));
  const seen = writers.last.size;
  await until(async () => writers.last.size > seen || writers.last.size === 15);
  await reader.query('commit');
  reader.release();
  await rebuilding;
  const last = await writers.stop();
  const now = await tallies.rows();
  expect(new Map(now.filter(({ id }) => id.startsWith('waiting')).map(({ id, n }) => [id, n]))).toEqual(last);
  expect((await verify(tallies.options())).differ).toBe(0);
});
