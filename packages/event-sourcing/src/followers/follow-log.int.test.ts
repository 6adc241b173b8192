import { setTimeout as sleep } from 'node:timers/promises';
import { createLogger } from '@cpg/platform';
import { type EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { endOfLog } from '../store/log.ts';
import { followLog } from './rows-and-log.ts';
import { startProjection } from './projection.ts';
import { startTallies } from '../testing/jest-tallies.ts';
import { startTestStore } from '../testing/jest-event-store.ts';

const log = createLogger({ name: 'test', level: 'silent' });

let tallies: Awaited<ReturnType<typeof startTallies>>;
beforeEach(async () => {
  tallies = await startTallies();
});
afterEach(() => tallies.stop());

/** A follower that notes the events it reads, in `store` or in the event store of the tallies. */
const start = ({ store, maxKeys }: { store?: () => EventStoreDBClient; maxKeys?: number } = {}) => {
  const { client, projection } = tallies.options();
  const read: string[] = [];
  const current = store ?? (() => client);
  const follow = followLog({
    client: new Proxy(client, { get: (_, key) => Reflect.get(current(), key, current()) as unknown }),
    db: tallies.pool,
    projection,
    keysIn: ({ event }) => {
      const key = `${event!.streamId} ${(event!.data as { n: number }).n}`;
      read.push(key);
      return [key];
    },
    ...(maxKeys !== undefined && { maxKeys }),
  });
  return {
    follow,
    /** What one call reads. */
    call: async () => {
      await follow();
      return read.splice(0);
    },
  };
};
const project = async (until: () => Promise<boolean>) => {
  const { client, projection, databaseUrl } = tallies.options();
  const running = startProjection({ client, pool: tallies.pool, databaseUrl, projection, log });
  while (!(await until())) await sleep(20);
  await running.stop();
};
const hasRow = (id: string, n: number) => async () =>
  (await tallies.rows()).some((row) => row.id === id && row.n === n);
const record = (id: string, n: number, client = tallies.options().client) =>
  client.appendToStream(`tally-${id}`, jsonEvent({ type: 'Tallied', data: { n } }));

test('reads only the events since the last call, and keeps what the rows lack', async () => {
  await record('a', 1);
  await project(hasRow('a', 1));
  await record('b', 1);

  const { follow, call } = start();
  // The event at the checkpoint, and later the last one of the call before, is read again.
  expect(await call()).toEqual(['tally-a 1', 'tally-b 1']);
  await record('b', 2);
  expect(await call()).toEqual(['tally-b 1', 'tally-b 2']);
  const beyond = await follow();
  expect(['tally-b 1', 'tally-b 2'].map(beyond.has)).toEqual([true, true]);
});

test('has nothing to catch up on after a long time without calls', async () => {
  const { follow, call } = start();
  await record('a', 1);
  await call();
  for (let n = 2; n <= 300; n += 1) await record('a', n);
  await project(hasRow('a', 300));
  expect(await call()).toEqual(['tally-a 300']);
  expect((await follow()).has('tally-a 1')).toBe(false);
});

test('forgets a key with the last event that shows it, whatever was shown in between', async () => {
  const { follow } = start();
  for (const id of ['a', 'b']) await record(id, 1);
  const { commit, prepare } = (await endOfLog(tallies.options().client))!;
  await record('a', 1);
  const keys = ['tally-a 1', 'tally-b 1'];
  expect(keys.map((await follow()).has)).toEqual([true, true]);
  await tallies.pool.query(
    `insert into tallies.checkpoints (name, epoch, commit_position, prepare_position) values ('projection', 1, $1, $2)`,
    [commit, prepare],
  );
  expect(keys.map((await follow()).has)).toEqual([true, false]);
});

test('reads again what rows lack that were lost', async () => {
  const { follow, call } = start();
  await record('a', 1);
  await project(hasRow('a', 1));
  await record('b', 1);
  await call();
  await tallies.pool.query('truncate tallies.tallies, tallies.checkpoints');
  const beyond = await follow();
  expect(['tally-a 1', 'tally-b 1'].map(beyond.has)).toEqual([true, true]);
});

test('waits for rows that lack too many events, and goes on once they have them', async () => {
  const { follow } = start({ maxKeys: 10 });
  for (let n = 1; n <= 300; n += 1) await record('a', n);
  for (const _ of [1, 2]) await expect(follow()).rejects.toMatchObject({ code: 'dependency_unavailable' });
  await project(hasRow('a', 300));
  expect((await follow()).has('tally-a 300')).toBe(true);
});

test('reads the log anew when the event store was restored from an older backup', async () => {
  let current = tallies.options().client;
  const { follow, call } = start({ store: () => current });
  await record('a', 1);
  await record('a', 2);
  expect(await call()).toEqual(['tally-a 1', 'tally-a 2']);

  const { client: restored, stop } = await startTestStore();
  try {
    await record('a', 1, restored);
    for (const n of [7, 8, 9]) await record('b', n, restored);
    current = restored;
    expect(await call()).toEqual(['tally-a 1', ...[7, 8, 9].map((n) => `tally-b ${n}`)]);
    expect((await follow()).has('tally-a 2')).toBe(false);
  } finally {
    await stop();
  }
});
