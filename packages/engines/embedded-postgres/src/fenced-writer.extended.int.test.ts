import { once } from 'node:events';
import { createServer } from 'node:net';
import { testDatabase } from '@cpg/platform/postgres/testing';
import pg from 'pg';
import { FencedWriter, type FencedWriterOptions, WriterUnavailable } from './fenced-writer.ts';
import { WriterLockTaken } from './locked-session.ts';

class Refusal extends Error {}
class Permanent extends Error {}

const LOCK_KEY = 4_711;

let database: Awaited<ReturnType<typeof testDatabase>>;
let lines: string[];
let loads: string[][];
const writers: FencedWriter[] = [];

beforeEach(async () => {
  database = await testDatabase();
  lines = [];
  loads = [];
  await inDatabase('create table entry (id int generated always as identity, name text)');
  await inDatabase('create table gate ()');
});
afterEach(async () => {
  for (const writer of writers.splice(0)) await writer.stop();
  await database.drop();
});

const inDatabase = async <Row extends pg.QueryResultRow>(sql: string): Promise<Row[]> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
};

const namesIn = async (db: pg.ClientBase): Promise<string[]> => {
  const { rows } = await db.query<{ name: string }>('select name from entry order by id');
  return rows.map(({ name }) => name);
};

const insert = (name: string) => async (db: pg.ClientBase) => {
  await db.query('insert into entry (name) values ($1)', [name]);
  return name;
};

const createWriter = (options: Partial<FencedWriterOptions> = {}): FencedWriter => {
  const writer = new FencedWriter({
    databaseUrl: database.url,
    applicationName: 'fenced writer under test',
    lockKey: LOCK_KEY,
    holder: 'server',
    log: (line) => lines.push(line),
    load: async (db) => void loads.push(await namesIn(db)),
    isPermanent: (error) => error instanceof Permanent,
    isRefusal: (error) => error instanceof Refusal,
    ...options,
  });
  writers.push(writer);
  return writer;
};

const startWriter = async (options: Partial<FencedWriterOptions> = {}): Promise<FencedWriter> => {
  const writer = createWriter(options);
  await writer.start();
  return writer;
};

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

/** Ends once a session waits for the lock of the table. */
const UNTIL_GATE_IS_AWAITED = `
  do $$ begin
    loop
      exit when exists (select from pg_locks where relation = 'gate'::regclass and not granted);
      perform pg_sleep(0.005);
    end loop;
  end $$`;

const endSessions = () =>
  inDatabase(`select pg_terminate_backend(pid) from pg_stat_activity
               where application_name = 'fenced writer under test' and datname = current_database()`);

describe('tasks', () => {
  test('run one at a time, in the order they were given', async () => {
    const writer = await startWriter();
    let running = 0;
    const task = (name: string) => async (db: pg.ClientBase) => {
      expect(++running).toBe(1);
      await insert(name)(db);
      running--;
      return name;
    };
    expect(await Promise.all(['a', 'b', 'c'].map((name) => writer.run(task(name))))).toEqual(['a', 'b', 'c']);
    expect(await writer.run(namesIn)).toEqual(['a', 'b', 'c']);
  });

  test('a refusal fails its own task and keeps the session', async () => {
    const writer = await startWriter();
    const refused = writer.run(async () => {
      throw new Refusal('not this one');
    });
    const next = writer.run(insert('next'));
    await expect(refused).rejects.toThrow(Refusal);
    expect(await next).toBe('next');
    expect(loads).toHaveLength(1);
  });

  test('any other error ends the session and fails the tasks that wait', async () => {
    let lost = 0;
    const writer = await startWriter({ onLost: () => lost++ });
    const failed = writer.run((db) => db.query('select * from no_such_table'));
    const waiting = writer.run(insert('never written'));
    await expect(failed).rejects.toThrow(WriterUnavailable);
    await expect(waiting).rejects.toThrow(WriterUnavailable);
    expect(lost).toBe(1);
    await until(() => writer.isOpen);
    expect(loads).toEqual([[], []]);
  });

  test('commits are durable even where the database and its URL say otherwise', async () => {
    await inDatabase(`alter database ${new URL(database.url).pathname.slice(1)} set synchronous_commit = off`);
    const writer = await startWriter({
      databaseUrl: `${database.url}?options=-c%20synchronous_commit%3Doff`,
      settings: { enable_sort: 'off' },
    });
    const settings = await writer.run(async (db) => {
      const { rows } = await db.query<{ setting: string }>(
        `select setting from pg_settings where name in ('enable_sort', 'synchronous_commit') order by name`,
      );
      return rows.map(({ setting }) => setting);
    });
    expect(settings).toEqual(['off', 'on']);
  });
});

describe('a lost session', () => {
  test('is replaced by one that loads the committed state', async () => {
    const writer = await startWriter();
    await writer.run(insert('kept'));
    await endSessions();
    await until(() => loads.length === 2 && writer.isOpen);
    expect(loads).toEqual([[], ['kept']]);
    expect(lines[0]).toMatch(/^lost the database: /);
    expect(await writer.run(insert('more'))).toBe('more');
  });

  test('is replaced only after its last task has ended', async () => {
    const writer = await startWriter();
    let otherLoads = 0;
    const other = await startWriter({ lockKey: LOCK_KEY + 1, load: async () => void otherLoads++ });
    let finish = () => {};
    const blocked = new Promise<void>((resolve) => (finish = resolve));
    const task = writer.run(async () => blocked);
    await endSessions();
    await until(() => !writer.isOpen);
    await expect(writer.run(insert('refused'))).rejects.toThrow(WriterUnavailable);
    // The other writer lost its session at the same time, and has no task.
    await until(() => otherLoads === 2 && other.isOpen);
    expect(loads).toHaveLength(1);
    finish();
    await task;
    await until(() => writer.isOpen);
    expect(loads).toHaveLength(2);
  });

  test('keeps the lock while the server still executes its statement', async () => {
    const writer = await startWriter();
    const gate = new pg.Client({ connectionString: database.url });
    await gate.connect();
    await gate.query('begin; lock table gate');
    let cutNow = () => {};
    const isExecuting = new Promise<void>((resolve) => (cutNow = resolve));
    const cut = writer.run(async (db) => {
      const statement = db.query(`insert into entry (name) select 'late' from (select count(*) from gate) as passed`);
      await isExecuting;
      (db as unknown as { connection: pg.Connection }).connection.stream.destroy();
      await statement;
    });
    const lost = expect(cut).rejects.toThrow(WriterUnavailable);
    await inDatabase(UNTIL_GATE_IS_AWAITED);
    cutNow();
    await lost;
    await until(() => lines.some((line) => line.includes('another server writes to this database')));
    expect(loads).toEqual([[]]);
    await gate.query('commit');
    await gate.end();
    await until(() => writer.isOpen);
    expect(loads).toEqual([[], ['late']]);
  });

  test('is replaced even where loading fails for a permanent reason at first', async () => {
    let attempts = 0;
    const load = async () => {
      if (++attempts === 2) throw new Permanent('another schema version');
    };
    const writer = await startWriter({ load });
    await endSessions();
    await until(() => attempts === 3 && writer.isOpen);
    expect(lines.slice(1)).toEqual([
      'waiting for the database: another schema version',
      'the database is available again',
    ]);
  });
});

describe('start', () => {
  test('retries a temporary failure and logs it once', async () => {
    let attempts = 0;
    const load = async () => {
      if (++attempts < 4) throw new Error('the database is starting up');
    };
    await startWriter({ load });
    expect(lines).toEqual(['waiting for the database: the database is starting up', 'the database is available again']);
  });

  test('throws a permanent error', async () => {
    const load = async () => {
      throw new Permanent('another schema version');
    };
    await expect(startWriter({ load })).rejects.toThrow(Permanent);
  });

  test('waits until another process frees the lock', async () => {
    const first = await startWriter();
    const second = createWriter();
    const started = second.start();
    await until(() => lines.length > 0);
    expect(lines).toEqual([
      'waiting for the database: another server writes to this database: stop it, or use another database',
    ]);
    expect(second.isOpen).toBe(false);
    await first.run(insert('by the first'));
    await first.stop();
    await started;
    expect(loads).toEqual([[], ['by the first']]);
  });

  test('gives up on the lock after `lockWaitMs`', async () => {
    await startWriter();
    await expect(startWriter({ lockWaitMs: 50 })).rejects.toThrow(WriterLockTaken);
  });
});

describe('stop', () => {
  test('finishes the accepted tasks, refuses new ones and frees the lock', async () => {
    const first = await startWriter();
    const accepted = [first.run(insert('one')), first.run(insert('two'))];
    const stopped = first.stop();
    await expect(first.run(insert('three'))).rejects.toThrow(WriterUnavailable);
    expect(await Promise.all(accepted)).toEqual(['one', 'two']);
    await stopped;
    const second = await startWriter({ lockWaitMs: 0 });
    expect(await second.run(namesIn)).toEqual(['one', 'two']);
  });

  test('does not wait for a session that PostgreSQL does not answer', async () => {
    const writer = await startWriter({ stopTimeoutMs: 100 });
    const { pid } = await writer.run(async (db) => (await db.query('select pg_backend_pid() as pid')).rows[0]);
    process.kill(pid, 'SIGSTOP');
    try {
      const frozen = expect(writer.run(insert('never answered'))).rejects.toThrow(WriterUnavailable);
      await writer.stop();
      await frozen;
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  });

  test('ends a start that waits for the database', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    const writer = createWriter({ databaseUrl: `postgres://127.0.0.1:${port}/none` });
    const started = expect(writer.start()).rejects.toThrow(WriterUnavailable);
    await until(() => lines.length > 0);
    await writer.stop();
    await started;
  });

  test('ends a start that waits for the lock', async () => {
    await startWriter();
    const second = createWriter();
    const started = expect(second.start()).rejects.toThrow(WriterUnavailable);
    await until(() => lines.length > 0);
    await second.stop();
    await started;
  });
});
