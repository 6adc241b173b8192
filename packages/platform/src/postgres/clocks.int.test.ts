import { join } from 'node:path';
import { createLogger } from '../log/logger.ts';
import type { OtherClock, OwnClocks } from '../clock/clock-guard.ts';
import { databaseClocks } from './clocks.ts';
import { migrate } from './migrate.ts';
import { createPool, type Pool } from './pool.ts';
import { testDatabase } from './testing/database.ts';

const SERVICES = join(import.meta.dirname, '../../../../services');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const startedMs = Date.now() - HOUR;
const own: OwnClocks = { now: () => new Date(), steadyMs: () => Date.now() - startedMs };

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
beforeEach(async () => {
  database = await testDatabase();
  pool = createPool({ url: database.url, name: 'test', log: createLogger({ name: 'test', level: 'silent' }) });
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const clockOf = (name: OtherClock['name']) => databaseClocks(pool).clocks.find((clock) => clock.name === name)!;

const createChains = () => migrate(pool, { schema: 'payments', folder: join(SERVICES, 'payments/migrations') });
/** A node shows a block of so many milliseconds ago. */
const show = (network: string, agoMs: number, [lagMs, leadMs]: readonly [number, number] = [3 * MINUTE, 15_000]) =>
  pool.query(
    `insert into payments.chain_cursors (network, nodes, block_lag_ms, block_lead_ms) values ($1, $2, $3, $4)
     on conflict (network) do update set nodes = excluded.nodes`,
    [
      network,
      JSON.stringify([
        { time: new Date(Date.now() - agoMs), isUsed: true },
        { time: new Date(Date.now() + DAY), isUsed: false },
      ]),
      lagMs,
      leadMs,
    ],
  );

test('PostgreSQL tells the offset of its clock', async () => {
  const before = own.steadyMs();
  const { fromMs, toMs } = (await clockOf('postgres').read(own))!;
  const after = own.steadyMs();
  expect(toMs).toBeGreaterThanOrEqual(fromMs);
  expect(toMs - fromMs).toBeLessThanOrEqual(after - before);
});

test('without the tables of payments and of the gateway, no block and no confirmation is expected', async () => {
  const chains = clockOf('chains');
  expect(await chains.read(own)).toBeNull();
  expect(chains.isExpected!()).toBe(false);
  expect(await databaseClocks(pool).readConfirmation!(own)).toBeNull();
});

test('a new block tells what time it is; an old one does so once another one follows', async () => {
  await createChains();
  const chains = clockOf('chains');
  await show('ethereum', 20_000);
  const { fromMs, toMs } = (await chains.read(own))!;
  expect(chains.isExpected!()).toBe(true);
  expect(toMs - fromMs).toBe(3 * MINUTE + 15_000);
  expect(startedMs).toBeGreaterThan(fromMs);
  expect(startedMs).toBeLessThan(toMs);

  // As if this clock had jumped 40 days ahead.
  await show('ethereum', 40 * DAY);
  const restarted = clockOf('chains');
  expect(await restarted.read(own)).toBeNull();
  await show('ethereum', 40 * DAY - 12_000);
  expect((await restarted.read(own))!.toMs).toBeLessThan(startedMs - 39 * DAY);
});

test('a chain whose node is behind does not hide one that is current, and the more exact one counts', async () => {
  await createChains();
  const chains = clockOf('chains');
  await show('bitcoin', 30 * MINUTE, [90 * MINUTE, 2 * HOUR]);
  await show('base', 2 * DAY);
  await show('ethereum', 10_000);
  await chains.read(own);
  await show('base', 2 * DAY - MINUTE);
  const { fromMs, toMs } = (await chains.read(own))!;
  expect(toMs - fromMs).toBe(3 * MINUTE + 15_000);
  expect(startedMs).toBeLessThan(toMs);
});

test("an operator's word is the newest row, and counts for a start within a day", async () => {
  await migrate(pool, { schema: 'gateway', folder: join(SERVICES, 'gateway/migrations') });
  const insert = (at: string, aheadMs: number) =>
    pool.query(
      `insert into gateway.clock_confirmations (confirmed_at, ahead_ms, confirmed_by, reason)
       values (now() + $1::interval, $2, 'operator', 'test')`,
      [at, aheadMs],
    );
  const read = () => databaseClocks(pool).readConfirmation!(own);
  await insert('-1 minute', HOUR);
  await insert('-2 days', 0);
  expect(await read()).toMatchObject({ id: 2, isRecent: false });
  await insert('-1 hour', HOUR);
  const confirmation = (await read())!;
  expect(confirmation).toMatchObject({ id: 3, isRecent: true });
  expect(Math.abs(confirmation.offsetMs - HOUR - startedMs)).toBeLessThan(MINUTE);
});
