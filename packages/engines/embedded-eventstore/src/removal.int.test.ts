import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { type AllStreamResolvedEvent, binaryEvent, type EventStoreDBClient, START } from '@eventstore/db-client';
import pg from 'pg';
import { startEventStore } from './index.ts';
import {
  administer,
  collect,
  collectUntil,
  connect,
  counted,
  inDatabase,
  isReclaimed,
  newStream,
  numberOf,
  numbersIn,
  range,
  type TestDatabase,
  until,
} from './testing/jest-store.ts';

let database: TestDatabase;
let server: Awaited<ReturnType<typeof startEventStore>>;
let client: EventStoreDBClient;
beforeAll(async () => {
  database = await testDatabase();
  await start();
});
afterAll(async () => {
  await stop();
  await database.drop();
});

const start = async () => {
  server = await startEventStore({ databaseUrl: database.url, port: 0, reclaimDelayMs: 20 });
  client = connect(server.url);
};
const stop = async () => {
  await client.dispose();
  await server.stop();
};

/** What PostgreSQL has of a stream and of its metadata. */
const stored = (stream: string) =>
  inDatabase<{ stream: string; type: string; revision: string }>(
    database.url,
    `select replace(stream, '${stream}', 's') as stream, type, revision from eventstore.event
      where stream in ('${stream}', '$$${stream}') order by position`,
  );

const TOMBSTONE_ONLY = [{ stream: 's', type: '$streamDeleted', revision: '9223372036854775807' }];

const nameOf = ({ event }: AllStreamResolvedEvent): string => {
  const { type, streamId } = event!;
  return type === 'Counted' ? `${streamId.slice(0, 4)} ${(event!.data as { n: number }).n}` : type;
};

describe('a tombstone', () => {
  test('removes the events and the metadata of its stream from the database', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(...range(0, 30)));
    await client.setStreamMetadata(stream, { maxCount: 9 });
    await client.tombstoneStream(stream);
    expect(await stored(stream)).toEqual(TOMBSTONE_ONLY);
  });

  test('leaves readers of $all the other events, also from a position in the removed range', async () => {
    const [gone, kept] = [newStream('gone'), newStream('kept')];
    const { position: before } = await client.appendToStream(kept, counted(1));
    await client.appendToStream(gone, counted(1));
    const { position: removed } = await client.appendToStream(gone, counted(2));
    await client.appendToStream(gone, counted(3));
    await client.appendToStream(kept, counted(2));
    await client.tombstoneStream(gone);
    await client.appendToStream(kept, counted(3));

    const forwards = async () => {
      const all = await collect(client.readAll({ fromPosition: before! }));
      return all.map(nameOf);
    };
    const backwards = await collect(client.readAll({ direction: 'backwards', fromPosition: 'end', maxCount: 4 }));
    const follow = async (fromPosition: typeof removed) => {
      const all = await collectUntil(
        client.subscribeToAll({ fromPosition: fromPosition! }),
        (item) => nameOf(item) === 'kept 3',
      );
      return all.map(nameOf);
    };
    const expected = ['kept 1', 'kept 2', '$streamDeleted', 'kept 3'];
    expect(await forwards()).toEqual(expected);
    expect(backwards.map(nameOf)).toEqual(expected.toReversed());
    expect(await follow(before)).toEqual(expected.slice(1)); // from memory
    expect(await follow(removed)).toEqual(expected.slice(1));
    await stop();
    await start();
    expect(await forwards()).toEqual(expected);
    expect(await follow(removed)).toEqual(expected.slice(1)); // from the database
    const { position: next } = await client.appendToStream(kept, counted(4));
    expect(next!.commit).toBeGreaterThan(await lastBefore(next!.commit));
  });

  test('is received by a live subscription to $all, which goes on with later events', async () => {
    const [gone, kept] = [newStream('gone'), newStream('kept')];
    const subscription = client.subscribeToAll({ fromPosition: 'end' });
    const received = collectUntil(subscription, (item) => nameOf(item) === 'kept 1');
    await new Promise((resolve) => subscription.once('caughtUp', resolve));
    await Promise.all([client.appendToStream(gone, counted(1)), client.tombstoneStream(gone)]);
    await client.appendToStream(kept, counted(1));
    const names = (await received).map(nameOf);
    expect(names.filter((name) => name !== 'gone 1')).toEqual(['$streamDeleted', 'kept 1']);
  });

  test('before a crash removes the events after the next start', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(1));
    await client.tombstoneStream(stream);
    await stop();
    await inDatabase(
      database.url,
      `insert into eventstore.event
         select -n, '${stream}', n, gen_random_uuid(), 'Counted', true, 0, '', '' from generate_series(1, 12000) n;
       update eventstore.removal set pruned_up_to = 0`,
    );
    await start();
    await until(async () => (await stored(stream)).length === 1);
    expect(await stored(stream)).toEqual(TOMBSTONE_ONLY);
  });
});

describe('a truncation', () => {
  test.each([
    ['$tb', (stream: string) => client.setStreamMetadata(stream, { truncateBefore: 3 }), [3, 4]],
    ['$tb beyond the end', (stream: string) => client.setStreamMetadata(stream, { truncateBefore: 9 }), [4]],
    ['a soft delete', (stream: string) => client.deleteStream(stream), [4]],
  ])('by %s removes the hidden events, but the last', async (_, truncate, revisions) => {
    const stream = newStream();
    await client.appendToStream(stream, counted(...range(0, 5)));
    await client.setStreamMetadata(stream, { maxCount: 100 });
    await truncate(stream);
    const rows = await stored(stream);
    expect(rows.filter((row) => row.stream === 's').map((row) => Number(row.revision))).toEqual(revisions);
    expect(rows.filter((row) => row.stream === '$$s').map((row) => row.revision)).toEqual(['1']);
    await stop();
    await start();
    const { nextExpectedRevision } = await client.appendToStream(stream, counted(5), { expectedRevision: 4n });
    expect(nextExpectedRevision).toBe(5n);
  });

  test('lets the stream be read from its start, and be subscribed to from a removed revision', async () => {
    const stream = newStream();
    await client.appendToStream(stream, counted(...range(0, 6)));
    await client.setStreamMetadata(stream, { truncateBefore: 3 });
    await client.setStreamMetadata(stream, {});
    expect(await numbersIn(client, stream)).toEqual([3, 4, 5]);
    expect(await numbersIn(client, stream, { direction: 'backwards', fromRevision: 'end' })).toEqual([5, 4, 3]);
    for (const fromRevision of [START, 1n] as const) {
      const subscription = client.subscribeToStream(stream, { fromRevision });
      const received = await collectUntil(subscription, (item) => numberOf(item) === 5);
      expect(received.map(numberOf)).toEqual([3, 4, 5]);
    }
  });
});

describe('the bytes of removed events', () => {
  /** Appends random bytes, some in the row and some in the TOAST table, and resolves to a check of what is on disk. */
  const appendSecret = async (stream: string) => {
    const [inRow, outOfRow] = [randomBytes(100), randomBytes(50_000)];
    await client.appendToStream(newStream('kept'), counted(1));
    for (const data of [inRow, outOfRow]) {
      await client.appendToStream(stream, binaryEvent({ type: 'Secret', data, metadata: inRow }));
    }
    const onDisk = async (): Promise<number> => {
      await administer('checkpoint');
      const files = await tableFiles();
      return [inRow, outOfRow].filter((bytes) => files.some((file) => file.includes(bytes.subarray(0, 100)))).length;
    };
    // The vacuum after an earlier test may be moving the table to new files.
    await until(async () => (await onDisk()) === 2);
    return onDisk;
  };
  const allReclaimed = () => isReclaimed(database.url);
  const waitsForOlderTransactions = async () => {
    const waiting = `select from pg_stat_activity where application_name = 'embedded-eventstore vacuum' and state = 'idle'
      and datname = current_database() and query like '%pg_snapshot_xmin%'`;
    return (await inDatabase(database.url, waiting)).length > 0;
  };

  test('leave the files of the table', async () => {
    const stream = newStream();
    const onDisk = await appendSecret(stream);
    await client.tombstoneStream(stream);
    await until(allReclaimed);
    expect(await onDisk()).toBe(0);
  });

  test.each([
    ['of this database', () => database.url, 'begin isolation level repeatable read; select 1'],
    ['of another database', () => process.env.POSTGRES_URL!, 'begin; select pg_current_xact_id()'],
  ])('leave them after an older transaction %s has ended', async (_, url, begin) => {
    const stream = newStream();
    const onDisk = await appendSecret(stream);
    await until(allReclaimed);
    const older = new pg.Client({ connectionString: url() });
    await older.connect();
    await older.query(begin);
    await client.tombstoneStream(stream);
    await until(waitsForOlderTransactions);
    expect(await allReclaimed()).toBe(false);
    await older.end();
    await until(allReclaimed);
    expect(await onDisk()).toBe(0);
  });
});

/** The files of the table with its indexes and its TOAST table. */
const tableFiles = async (): Promise<Buffer[]> => {
  const rows = await inDatabase<{ path: string }>(
    database.url,
    `select current_setting('data_directory') || '/' || pg_relation_filepath(oid) as path from pg_class
      where oid in ('eventstore.event'::regclass, (select reltoastrelid from pg_class where oid = 'eventstore.event'::regclass))
         or oid in (select indexrelid from pg_index where indrelid = 'eventstore.event'::regclass)`,
  );
  return rows.flatMap(({ path }) =>
    readdirSync(dirname(path))
      .filter((name) => name === basename(path) || name.startsWith(`${basename(path)}.`))
      .map((name) => readFileSync(join(dirname(path), name))),
  );
};

const lastBefore = async (position: bigint): Promise<bigint> => {
  const [row] = await inDatabase<{ last: string }>(
    database.url,
    `select max(position) as last from eventstore.event where position < ${position}`,
  );
  return BigInt(row!.last);
};
