import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@cpg/ports';
import { createLogger } from '../log/logger.ts';
import { AdvisoryLockTakenError, SharedSessionError, withAdvisoryLock } from './own-session.ts';
import { prepareSchema } from './migrate.ts';
import { databaseDependency } from './errors.ts';
import { createPool, type Pool, type PoolOptions } from './pool.ts';
import { testDatabase } from './testing/database.ts';

const PROGRAM = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  .map((folder) => join(folder, 'pgbouncer'))
  .find((file) => existsSync(file));
const testWithPgBouncer = PROGRAM ? test : test.skip;
if (!PROGRAM) {
  const reason = "tests of poolers are skipped: pgbouncer is missing; Debian's package pgbouncer has it";
  process.stderr.write(`${reason}\n`);
  if (process.env.SKIPPED_BECAUSE) appendFileSync(process.env.SKIPPED_BECAUSE, `${reason}\n`);
}

const log = createLogger({ name: 'test', level: 'silent' });
let database: Awaited<ReturnType<typeof testDatabase>>;
let folder: string;
let pooler: ChildProcess | undefined;
let pools: Pool[];

beforeEach(async () => {
  database = await testDatabase();
  folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
  chmodSync(folder, 0o755);
  pools = [];
});
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  if (pooler && pooler.exitCode === null) {
    pooler.kill('SIGKILL');
    await once(pooler, 'exit');
  }
  rmSync(folder, { recursive: true });
  await database.drop();
});

/** Starts PgBouncer before the test's database. Resolves to the URL that leads through it. */
const startPgBouncer = async (settings: string): Promise<string> => {
  const { hostname, port: serverPort, username, password, pathname } = new URL(database.url);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
${settings}
`,
  );
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  pooler = spawn(PROGRAM!, ['-q', ...user, file], { stdio: 'ignore' });
  while (!(await answers(port))) {
    if (pooler.exitCode !== null) throw new Error(`pgbouncer ended with code ${pooler.exitCode}`);
    await sleep(20);
  }
  return `postgres://${username}@127.0.0.1:${port}${pathname}`;
};

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.end());
  });

const openPool = (url: string, options: Partial<PoolOptions> = {}): Pool => {
  const pool = createPool({ url, name: 'test', log, ...options });
  pools.push(pool);
  return pool;
};

const prepare = (url: string) =>
  prepareSchema(openPool(url), { schema: 'orders', folder: migrations(), environment: 'sandbox' });
const migrations = () => {
  const files = mkdtempSync(join(folder, 'migrations-'));
  writeFileSync(join(files, '001-things.sql'), 'create table things (id int);');
  return files;
};

describe.each([
  'pool_mode = transaction',
  'pool_mode = transaction\nserver_round_robin = 1',
  'pool_mode = transaction\ndefault_pool_size = 1',
  'pool_mode = statement',
])('a pooler with %j', (settings) => {
  testWithPgBouncer('is refused at start, before anything changes', async () => {
    const url = await startPgBouncer(settings);
    const refusal = await prepare(url).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SharedSessionError);
    expect((refusal as Error).message).toMatch(/pool_mode=session.*"leader …", "members of …", "shadow …", "gateway"/);
    const { rows } = await openPool(database.url).query("select to_regnamespace('orders') as orders");
    expect(rows).toEqual([{ orders: null }]);
  });

  testWithPgBouncer('lets nobody have a lock, and keeps none from others', async () => {
    const url = await startPgBouncer(settings);
    const lock = { applicationName: 'test', lock: 'tests.pooler' };
    const lead = (through: string) => untilFree(() => withAdvisoryLock({ ...lock, url: through }, async () => 'led'));
    await expect(lead(url)).rejects.toBeInstanceOf(SharedSessionError);
    await expect(lead(url)).rejects.toBeInstanceOf(SharedSessionError);
    await expect(lead(database.url)).resolves.toBe('led');
  });
});

/** A session that PostgreSQL ends has its lock for a moment longer. */
const untilFree = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    if (error instanceof AdvisoryLockTakenError) return sleep(10).then(() => untilFree(work));
    throw error;
  });

describe('a pooler with "pool_mode = session"', () => {
  testWithPgBouncer('is no hindrance: schemas, locks and settings are as without it', async () => {
    const url = await startPgBouncer('pool_mode = session');
    await prepare(url);
    const lock = { applicationName: 'test', lock: 'tests.pooler', url };
    await withAdvisoryLock(lock, async () => {
      await expect(withAdvisoryLock(lock, async () => {})).rejects.toBeInstanceOf(AdvisoryLockTakenError);
    });
    const { rows } = await openPool(url, { asyncCommit: true, settings: { enable_seqscan: 'off' } }).query(
      `select current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle,
         current_setting('synchronous_commit') as async_commit, current_setting('enable_seqscan') as own`,
    );
    expect(rows).toEqual([{ statement: '14s', idle: '5s', async_commit: 'off', own: 'off' }]);
  });

  testWithPgBouncer('that refuses the options of the URL is a wrong setting, not an outage without end', async () => {
    const url = await startPgBouncer('pool_mode = session');
    const pool = openPool(`${url}?options=${encodeURIComponent('-c statement_timeout=1s')}`);
    await expect(databaseDependency(pool).check!()).rejects.toThrow(/remove options from DATABASE_URL/);
  });
});
