import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '@cpg/embedded-kafka';
import {
  AnyEvent,
  append,
  connectEventStore,
  endOf,
  genesisHash,
  lastEvent,
  linkEvents,
  type Projection,
  tombstone,
} from '@cpg/event-sourcing';
import { newContext } from '@cpg/platform';
import { adminProgram, CommandError, runAdminProgram } from '@cpg/platform/commands';
import { stampSchemas } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';
import { identifyStore } from '../service/own-store.ts';
import { runServiceCommands, serviceCommands, type ServiceCommandsOptions, withStores } from './admin-command.ts';
import { addEnvironmentCommands } from './environment-command.ts';

const AT = '2026-01-31T12:00:00.000Z';
const folder = mkdtempSync(join(tmpdir(), 'admin-'));
const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true })];
let tallies: Awaited<ReturnType<typeof startTallies>>;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const database = await testDatabase();
  const kafka = await startKafka({ databaseUrl: database.url, port: 0 });
  tallies = await startTallies();
  closing.unshift(() => tallies.stop(), kafka.stop, database.drop);
  env = {
    ENVIRONMENT: 'sandbox',
    DATABASE_URL: tallies.databaseUrl,
    EVENTSTORE_URL: tallies.eventStoreUrl,
    KAFKA_BROKERS: kafka.brokers,
  };
  for (const [id, n] of [
    ['a', 1],
    ['a', 2],
    ['b', 1],
  ] as const)
    await record(id, n);
  await tombstone(tallies.options().client, 'tally-gone');
});
afterAll(async () => {
  for (const close of closing) await close();
});

/** Records a number with its metadata, and its row. */
const record = async (id: string, n: number) => {
  const { client } = tallies.options();
  const stream = `tally-${id}`;
  const end = endOf(stream, await lastEvent(client, stream, AnyEvent));
  const event = { type: 'Tallied', data: { n, at: AT } };
  await append(
    client,
    stream,
    linkEvents([event], stream, end, newContext('service:test'), { causationId: 'cause' }),
    n - 2,
  );
  await tallies.pool.query(
    `insert into tallies.tallies (id, n, revision) values ($1, $2, $3)
     on conflict (id) do update set n = excluded.n, revision = excluded.revision`,
    [id, n, n - 1],
  );
};

/** Runs a command. Resolves to its exit code, and what it printed. */
const captured = async (command: () => Promise<number>) => {
  const printed = { out: '', err: '' };
  const before = {
    SIGINT: process.listenerCount('SIGINT'),
    SIGTERM: process.listenerCount('SIGTERM'),
    SIGHUP: process.listenerCount('SIGHUP'),
  };
  const { stdout, stderr } = process;
  const [toStdout, toStderr] = [stdout.write.bind(stdout), stderr.write.bind(stderr)];
  stdout.write = (text: string) => Boolean((printed.out += text));
  stderr.write = (text: string) => Boolean((printed.err += text));
  try {
    const code = await command();
    return { code, lines: printed.out.trimEnd().split('\n'), error: printed.err.trimEnd() };
  } finally {
    // A command is a process of its own, and leaves its listeners.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      for (const listener of process.listeners(signal).slice(before[signal])) process.off(signal, listener);
    [stdout.write, stderr.write] = [toStdout, toStderr];
  }
};
const programWith = ({
  projection = tallies.projection,
  ...rest
}: Partial<ServiceCommandsOptions> & { projection?: Projection } = {}) =>
  serviceCommands({
    service: 'orders',
    env,
    projectionOf: () => projection,
    migrations: tallies.migrations,
    published: { topic: 'tallies.v1', objectType: 'order' },
    ...rest,
  });
const run = (line: string, changes: Parameters<typeof programWith>[0] = {}) =>
  captured(() => runServiceCommands(programWith(changes), line.split(' ').filter(Boolean)));
const second = (): Projection => ({ ...tallies.projection, name: 'second' });

test('rebuilds each read model, and says so', async () => {
  await tallies.pool.query('update tallies.tallies set n = 7');
  expect(await run('projections rebuild', { moreProjectionsOf: () => [second()] })).toEqual({
    code: 0,
    lines: ['tallies.tallies was rebuilt', 'tallies.tallies was rebuilt'],
    error: '',
  });
  expect((await tallies.rows()).map(({ id, n }) => `${id} ${n}`)).toEqual(['a 2', 'b 1', 'gone 0']);
});

test('verifies each read model: exit code 1 when one differs', async () => {
  const right = 'tallies.tallies: 3 rows, all match the event store';
  expect(await run('projections verify')).toEqual({ code: 0, lines: [right], error: '' });
  const wrong: Projection = {
    ...second(),
    apply: async (db, events, schema) => {
      await tallies.projection.apply(db, events, schema);
      await db.query(`update ${schema}.tallies set n = 9 where id = 'b'`);
    },
  };
  const { code, lines } = await run('projections verify', { moreProjectionsOf: () => [wrong] });
  expect([code, lines]).toEqual([
    1,
    [
      right,
      'b: n is 1, expected 9 from the event store',
      'tallies.tallies: 1 of 3 rows differ from the event store: keep a copy of both first, and find out why; "projections rebuild" replaces the rows',
    ],
  ]);
});

test('prints the streams that wait: exit code 1 when there are any', async () => {
  expect(await run('projections parked')).toMatchObject({ code: 0, lines: ['tallies: no stream is parked'] });
  await tallies.pool.query(
    `insert into tallies.parked_streams (subscription, stream, revision, event_type, reason, parked_at)
     values ('relay', 'tally-a', 1, 'Tallied', 'Error: why', '${AT}')`,
  );
  expect(await run('projections parked')).toMatchObject({
    code: 1,
    lines: [`tallies.relay: tally-a waits at event 1 (Tallied) since ${AT}: Error: why`],
  });
  await tallies.pool.query('truncate tallies.parked_streams');
});

test('exports the events of each stream in turn, as JSON, without deleted ones', async () => {
  const { code, lines } = await run('audit export');
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(code).toBe(0);
  expect(entries.map(({ stream, sequence }) => `${String(stream)} ${String(sequence)}`)).toEqual([
    'tally-a 0',
    'tally-a 1',
    'tally-b 0',
  ]);
  expect(entries[0]).toMatchObject({
    type: 'Tallied',
    actor: 'service:test',
    data: { n: 1, at: AT },
    hash_version: 2,
    previous_hash: genesisHash('tally-a'),
    hash: entries[1]!.previous_hash,
  });
  const other = await run('audit export', { ownPrefixes: ['tally-b'] });
  expect(other.lines).toHaveLength(1);
});

test('verifies hash chains and rows, and what the service adds: exit code 1 for a fault', async () => {
  expect(await run('audit verify')).toMatchObject({
    code: 0,
    lines: [
      'streams tally-*: 3 events, all hash chains are intact',
      'tallies.tallies: 3 rows, all match the event store',
    ],
  });
  const verifyMore = async () => ({ lines: ['books differ'], faults: 1 });
  expect(await run('audit verify', { verifyMore, ownPrefixes: ['tally-a', 'x-'] })).toMatchObject({
    code: 1,
    lines: [
      'streams tally-a*, x-*: 2 events, all hash chains are intact',
      'books differ',
      expect.stringContaining('3 rows'),
    ],
  });
});

test('a service adds commands of its own, which get the stores', async () => {
  const greet = async (who: string | undefined) => {
    const program = programWith();
    program
      .command('greet')
      .argument('[person]')
      .runs((person?: string) =>
        withStores(env, async ({ databaseUrl }) => {
          if (person === undefined) throw new CommandError('nobody to greet');
          if (person === 'away') throw new Error('nobody answers');
          return person === 'five' ? 5 : `${person} at ${databaseUrl}`;
        }),
      );
    return captured(() => runServiceCommands(program, who === undefined ? ['greet'] : ['greet', who]));
  };
  expect(await greet('you')).toEqual({ code: 0, lines: [`you at ${tallies.databaseUrl}`], error: '' });
  expect(await greet('five')).toMatchObject({ code: 5, error: '' });
  expect(await greet(undefined)).toMatchObject({ code: 2, error: 'nobody to greet' });
  expect(await greet('away')).toMatchObject({ code: 2, error: 'the command failed: nobody answers' });
});

test.each([
  ['', "the command after 'npm run admin --' is missing", 'npm run admin -- [options] [command]'],
  ['projections', "the command after 'projections' is missing", 'npm run admin -- projections [options] [command]'],
  ['projections rebuild now', 'Allowed choices are orders', 'projections rebuild [options] [service]'],
  ['projections rebild', 'Did you mean rebuild?', 'projections [options] [command]'],
  ['audit verify --until x', "unknown option '--until'", 'audit verify [options] [service]'],
  ['rebuild', "unknown command 'rebuild'", 'npm run admin -- [options] [command]'],
  ['toString', "unknown command 'toString'", 'npm run admin -- [options] [command]'],
  ['store forget', "unknown command 'forget'", 'store [options] [command]'],
  ['store reconcile now', "too many arguments for 'reconcile'", 'store reconcile [options]'],
  ['store reconcile --force', "unknown option '--force'", 'store reconcile [options]'],
  ['store republish', "required option '--since <time>' not specified", 'store republish [options]'],
])('the mistake in "%s" is named: %s, with the usage of that command alone', async (line, mistake, usage) => {
  const { code, error } = await run(line, { env: {} });
  expect(code).toBe(64);
  expect(error).toMatch(/^error: /);
  expect(error).toContain(mistake);
  expect(error).toContain(`${usage}\n`);
  expect(error.match(/Usage:/g)).toHaveLength(1);
});

test.each([
  ['store republish --since yesterday', '--since: yesterday is not a time: write it like 2026-01-31T12:00:00Z'],
  [`store republish --since ${AT}`, 'schema tallies has published nothing yet: start its service'],
])('"%s" is refused with: %s', async (line, error) => {
  expect(await run(line)).toMatchObject({ code: 2, error });
});

test('a key that is typed by mistake is not repeated', async () => {
  const key = `xprv${'A1b2C3d4'.repeat(13)}`;
  for (const line of [key, `store ${key}`, `store reconcile --key=${key}`])
    expect((await run(line)).error).not.toContain('A1b2C3d4');
});

test('the help of a command has examples', async () => {
  const { code, lines } = await run('store republish --help', { env: {} });
  expect(code).toBe(0);
  expect(lines).toContain('  npm run admin -- store republish --since 2026-01-31T12:00:00Z');
});

test('an event store that is away, and a setting that is wrong, are told apart', async () => {
  const away = await run('projections verify', {
    env: { ...env, EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false&maxDiscoverAttempts=1' },
  });
  expect(away).toMatchObject({
    code: 2,
    error: expect.stringContaining('the command failed: the event store is unavailable'),
  });
  const wrong = await run('projections verify', { env: { ...env, EVENTSTORE_URL: 'nowhere' } });
  expect(wrong).toMatchObject({ code: 2, error: expect.stringContaining('EVENTSTORE_URL') });
  expect(wrong.error).not.toContain('the command failed');
});

// The store gets its identity here: the tests before need none.
describe('with an identity', () => {
  beforeAll(async () => {
    await identifyStore({ client: tallies.options().client, environment: 'sandbox', name: 'test' });
  });

  test('runs for the environment of the database alone', async () => {
    expect((await run('projections parked')).code).toBe(0);
    await stampSchemas(tallies.pool, 'production');
    expect(await run('projections parked')).toMatchObject({
      code: 2,
      error:
        'the event store belongs to sandbox, but schema tallies of the database belongs to production: correct EVENTSTORE_URL or DATABASE_URL',
    });
    await tallies.pool.query('drop table tallies.environment_stamp');
    await stampSchemas(tallies.pool, 'sandbox');
    expect((await run('projections parked')).code).toBe(0);
  });

  test('reconciles, with exit code 1 for differences, and lists them in the folder', async () => {
    expect(await run('store reconcile')).toMatchObject({ code: 0 });
    await tallies.pool.query("insert into tallies.tallies (id, n, revision) values ('lost', 1, 0)");
    const { code, lines } = await run(`store reconcile --folder ${folder}`);
    expect(code).toBe(1);
    expect(lines).toContain('tallies.tallies: 1 without events in the event store: lost');
    const [file] = readdirSync(folder);
    expect(lines).toContain(`listed in ${join(folder, file!)}`);
    expect(existsSync(join(folder, file!))).toBe(true);
    expect(await run(`store reconcile --apply --folder ${folder}`)).toMatchObject({ code: 0 });
    expect((await tallies.rows()).map(({ id }) => id)).toEqual(['a', 'b', 'gone']);
  });

  test('republishes what was recorded since a time, where the relay has come as far', async () => {
    const positions: string[] = [];
    const client = connectEventStore(tallies.eventStoreUrl);
    for await (const { event } of client.readAll())
      if (event?.streamId.startsWith('tally-') && event.type === 'Tallied')
        positions.push(String(event.position.commit));
    await client.dispose();
    const checkpoint = async () =>
      (await tallies.pool.query<{ commit: string }>(`select commit_position::text as commit from tallies.checkpoints`))
        .rows[0]!.commit;
    const [storeId] = /sto_\w+/.exec((await run('store reconcile')).lines[0]!)!;
    await tallies.pool.query(
      `insert into tallies.checkpoints (name, epoch, store_id, commit_position, prepare_position) values ('relay', 1, $1, $2, $2)`,
      [storeId, positions.at(-1)],
    );
    const later = new Date(Date.now() + 3_600_000).toISOString();
    expect(await run(`store republish --since ${later}`)).toMatchObject({
      code: 0,
      lines: ['tallies: the relay has that still to do'],
    });
    expect(await checkpoint()).toBe(positions.at(-1));
    expect(await run(`store republish --since ${AT}`)).toMatchObject({
      code: 0,
      lines: [`tallies: the relay publishes again what was recorded since ${AT}`],
    });
    expect(await checkpoint()).toBeNull();
  });
});

describe('the environment command', () => {
  const environment = (line: string, changes: NodeJS.ProcessEnv = {}) =>
    captured(() => {
      const program = adminProgram('');
      addEnvironmentCommands(program, { ...env, ...changes });
      return runAdminProgram(program, ['environment', ...line.split(' ').filter(Boolean)]);
    });

  test('shows the stamps, and stamps what has none', async () => {
    const other = await startTallies();
    try {
      const stores = { DATABASE_URL: other.databaseUrl, EVENTSTORE_URL: other.eventStoreUrl };
      expect(await environment('show', stores)).toMatchObject({ code: 0, lines: ['event store: no stamp'] });
      const stamped = await environment('stamp', stores);
      expect(stamped).toMatchObject({ code: 0, error: '' });
      expect(stamped.lines).toEqual([
        'schema tallies: sandbox',
        expect.stringMatching(/^event store: sandbox \(sto_\w+\)$/),
      ]);
      expect((await environment('show', stores)).lines).toEqual(stamped.lines);
      await other.pool.query(`update tallies.environment_stamp set environment = 'production'`);
      expect(await environment('stamp', stores)).toMatchObject({
        code: 2,
        error:
          'ENVIRONMENT is sandbox, but schema tallies of the database at DATABASE_URL belongs to production: correct ENVIRONMENT or the address',
      });
    } finally {
      await other.stop();
    }
  });

  test('a fault that is not expected says so', async () => {
    const away = { EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false&maxDiscoverAttempts=1' };
    expect(await environment('show', away)).toMatchObject({
      code: 2,
      error: expect.stringContaining('the command failed:'),
    });
  });
});
