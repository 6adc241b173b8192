import type { AllStreamResolvedEvent } from '@eventstore/db-client';
import { UnreadableEventError } from '../store/errors.ts';
import { endOfLog } from '../store/log.ts';
import { startTallies } from '../testing/jest-tallies.ts';
import { findInLog } from './rows-and-log.ts';

let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeAll(async () => {
  tallies = await startTallies();
});
afterAll(() => tallies.stop());
beforeEach(() => tallies.pool.query('truncate tallies.tallies, tallies.checkpoints, tallies.parked_streams'));

const nameOf = ({ event }: AllStreamResolvedEvent) => `${event!.streamId}#${event!.revision}`;
/** Says that the rows include every event so far. */
const projectAll = async (name = 'projection') => {
  const { commit, prepare } = (await endOfLog(tallies.options().client))!;
  await tallies.pool.query(
    `insert into tallies.checkpoints (name, epoch, commit_position, prepare_position) values ($1, 1, $2, $3)`,
    [name, commit, prepare],
  );
};
const park = (stream: string, revision: number, subscription = 'projection') =>
  tallies.pool.query('insert into tallies.parked_streams (subscription, stream, revision) values ($1, $2, $3)', [
    subscription,
    stream,
    revision,
  ]);

/** Looks for an event by its name, and perhaps for a row. Resolves to what was found, and to the events looked at. */
const find = async (wanted: string, { inRows = null as string | null, unreadable = '', bug = '' } = {}) => {
  const seen: string[] = [];
  const { client, projection } = tallies.options();
  const found = await findInLog({
    client,
    db: tallies.pool,
    projection,
    inRows: async () => inRows,
    inEvent: async (entry) => {
      const name = nameOf(entry);
      seen.push(name);
      if (name === bug) throw new TypeError('a bug');
      if (name === unreadable)
        throw new UnreadableEventError({ stream: entry.event!.streamId, revision: 0, type: 'Tallied' }, 'why');
      return name === wanted ? name : null;
    },
  });
  return { found, seen };
};
const UNKNOWN = { code: 'dependency_unavailable' };

test('what a row has needs no look at the log', async () => {
  await tallies.tally('row', 1);
  expect(await find('tally-row#0', { inRows: 'the row' })).toEqual({ found: 'the row', seen: [] });
});

test('looks only in events that the rows may lack', async () => {
  await tallies.tally('known', 1);
  await projectAll();
  await tallies.tally('later', 1);
  expect(await find('tally-later#0')).toEqual({ found: 'tally-later#0', seen: ['tally-known#0', 'tally-later#0'] });
  expect((await find('tally-other#0')).found).toBeNull();
});

test('the checkpoint of another projection says nothing about these rows', async () => {
  await tallies.tally('mine', 1);
  await projectAll('another');
  expect((await find('tally-mine#0')).found).toBe('tally-mine#0');
});

test('the first event that has it counts, and later ones are not asked', async () => {
  for (const n of [1, 2]) await tallies.tally('twice', n);
  await projectAll();
  await tallies.tally('twice', 3);
  expect(await find('tally-twice#1')).toEqual({ found: 'tally-twice#1', seen: ['tally-twice#1'] });
});

test('looks in parked streams from their parked event on, whatever the checkpoint says', async () => {
  for (const n of [1, 2, 3]) await tallies.tally('parked', n);
  await tallies.tally('end', 1);
  await projectAll();
  await park('tally-parked', 1);
  const { found, seen } = await find('tally-parked#2');
  expect([found, seen]).toEqual(['tally-parked#2', ['tally-end#0', 'tally-parked#1', 'tally-parked#2']]);
  expect((await find('tally-parked#0')).found).toBeNull();
});

test('the parked streams of another subscription are no concern of these rows', async () => {
  for (const n of [1, 2]) await tallies.tally('foreign', n);
  await tallies.tally('end', 1);
  await projectAll();
  await park('tally-foreign', 0, 'relay');
  expect((await find('tally-foreign#0')).found).toBeNull();
});

describe('an event that cannot be read', () => {
  let unreadable: string;
  let after: string;
  beforeEach(async () => {
    unreadable = `tally-broken#${await tallies.tally('broken', 1)}`;
    await projectAll();
    after = `tally-after#${await tallies.tally('after', 1)}`;
  });

  test('does not matter if another one has it', async () => {
    expect((await find(after, { unreadable })).found).toBe(after);
  });

  test('leaves the answer unknown otherwise', async () => {
    await expect(find('none', { unreadable })).rejects.toMatchObject(UNKNOWN);
  });

  test('is not confused with a bug', async () => {
    await expect(find('none', { bug: unreadable })).rejects.toThrow('a bug');
  });
});

test.each([
  [100, 'looked through', null],
  [101, 'too many to be sure', UNKNOWN],
])('%i parked streams are %s', async (count, _, error) => {
  const end = `tally-end#${await tallies.tally('end', 1)}`;
  await projectAll();
  await tallies.pool.query(
    `insert into tallies.parked_streams (subscription, stream, revision)
     select 'projection', 'tally-never-' || n, 0 from generate_series(1, $1::int) as n`,
    [count],
  );
  if (error) await expect(find('none')).rejects.toMatchObject(error);
  else expect((await find('none')).found).toBeNull();
  expect((await find(end)).found).toBe(end);
});

test('an outage of the event store is named as such', async () => {
  const { projection } = tallies.options();
  const failing = { next: () => Promise.reject(new Error('broken')) };
  const client = { readAll: () => ({ destroy: () => {}, [Symbol.asyncIterator]: () => failing }) };
  const looking = findInLog({
    client: client as never,
    db: tallies.pool,
    projection,
    inRows: async () => null,
    inEvent: async () => null,
  });
  await expect(looking).rejects.toMatchObject({ ...UNKNOWN, dependency: 'eventstore' });
});
