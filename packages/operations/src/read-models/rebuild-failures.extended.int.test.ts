import type { Projection } from '@cpg/event-sourcing';
import { rebuild } from './rebuild.ts';
import { startTallies } from '../../../event-sourcing/src/testing/jest-tallies.ts';

let tallies: Awaited<ReturnType<typeof startTallies>>;

beforeAll(async () => {
  tallies = await startTallies();
  for (let n = 0; n < 300; n += 1) await tallies.tally(`old-${n % 40}`, n);
  await tallies.remove('old-3');
});

afterAll(() => tallies.stop());

describe('a crash', () => {
  const statements = [
    'insert into tallies_shadow',
    'analyze',
    'lock table',
    'drop table',
    'alter table',
    'insert into tallies.projection_versions',
  ];

  test.each(statements)(
    'before "%s" leaves the live table as it was, and the next rebuild succeeds',
    async (statement) => {
      const before = await tallies.rows();
      const oid = async () => (await tallies.pool.query("select 'tallies.tallies'::regclass::oid as oid")).rows[0].oid;
      const oidBefore = await oid();
      await expect(rebuild(crashingAt(statement))).rejects.toThrow(/terminat|connection error/i);
      expect(await tallies.rows()).toEqual(before);
      expect(await oid()).toBe(oidBefore);
      await rebuild(tallies.options());
      expect(await tallies.rows()).toEqual(before);
      expect(await oid()).not.toBe(oidBefore);
      expect(await tallies.shadowSchemas()).toBe(0);
    },
  );

  /** Options whose connection is terminated right before it runs `statement`, as in a crash. */
  const crashingAt = (statement: string) => {
    const { projection } = tallies;
    let startupTasks = false;
    const prepare = (session: Session) => {
      const query = session.query.bind(session);
      session.query = async (...args) => {
        const text = typeof args[0] === 'string' ? args[0] : args[0].text;
        if (text.trim().startsWith(statement)) {
          const { rows } = await query('select pg_backend_pid() as pid');
          await tallies.pool.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
        }
        return query(...args);
      };
    };
    const apply: Projection['apply'] = (db, ...rest) => {
      if (!startupTasks) prepare(db);
      startupTasks = true;
      return projection.apply(db, ...rest);
    };
    return tallies.options({ projection: { ...projection, apply } });
  };
});

interface Session {
  query: (statement: string | { text: string }, values?: unknown[]) => Promise<{ rows: { pid: number }[] }>;
}

test('refuses a second rebuild at the same time', async () => {
  let second: Promise<void> | undefined;
  const { projection } = tallies;
  const apply: Projection['apply'] = async (...args) => {
    second ??= rebuild(tallies.options());
    await second.catch(() => {});
    return projection.apply(...args);
  };
  await rebuild(tallies.options({ projection: { ...projection, apply } }));
  await expect(second).rejects.toThrow('being rebuilt or verified by another process');
});
