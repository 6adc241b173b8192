import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool, migrate, type Queryable } from '@cpg/platform/postgres';
import { testDatabase } from '@cpg/platform/postgres/testing';
import { createLogger } from '@cpg/platform';
import { jsonEvent } from '@eventstore/db-client';
import type { Projection } from '../followers/projection.ts';
import { startTestStore } from './jest-event-store.ts';

const MIGRATION = `
create table tallies (id text primary key, n int not null, revision bigint not null, deleted boolean not null default false, seen_by text);
create index tallies_by_n on tallies (n) where not deleted;
create view api_tallies as select id, n from tallies where not deleted;
create table checkpoints (name text primary key, epoch bigint not null, commit_position numeric, prepare_position numeric,
  store_id text, event_id text, event_stream text, retired_at timestamptz);
create table parked_streams (subscription text, stream text, revision bigint, event_id text, event_type text, reason text,
  parked_at timestamptz default now(), tried_at timestamptz default now(), primary key (subscription, stream));
create table projection_versions (projection text primary key, version int not null);`;

const LIVE = 'tallies.tallies';

type Row = { readonly id: string; readonly n: number; readonly revision: number };

const write = (db: Queryable, rows: readonly Row[], table = LIVE) =>
  db.query(
    `insert into ${table} as row (id, n, revision) select * from unnest($1::text[], $2::int[], $3::bigint[])
     on conflict (id) do update set n = excluded.n, revision = excluded.revision where row.revision < excluded.revision and not row.deleted`,
    [rows.map(({ id }) => id), rows.map(({ n }) => n), rows.map(({ revision }) => revision)],
  );

const erase = (db: Queryable, id: string, table = LIVE) =>
  db.query(
    `insert into ${table} (id, n, revision, deleted) values ($1, 0, 0, true) on conflict (id) do update set n = 0, revision = 0, deleted = true`,
    [id],
  );

type Database = Pick<Awaited<ReturnType<typeof testDatabase>>, 'url' | 'drop'>;

/** A small event-sourced service: streams of numbers, and a row with the last number of each stream. */
export const startTallies = async (ownDatabase: Promise<Database> = testDatabase()) => {
  const [database, store] = await Promise.all([ownDatabase, startTestStore()]);
  const { client } = store;
  const log = createLogger({ name: 'tallies', level: process.env.LOG_LEVEL ?? 'silent' });
  const pool = createPool({ url: database.url, name: 'tallies', max: 16, asyncCommit: true, log });
  const migrations = mkdtempSync(join(tmpdir(), 'tallies-'));
  writeFileSync(join(migrations, '001-tallies.sql'), MIGRATION);
  await migrate(pool, { schema: 'tallies', folder: migrations });

  const projection: Projection = {
    schema: 'tallies',
    tables: ['tallies'],
    version: 1,
    prefixes: ['tally-'],
    transientColumns: ['seen_by'],
    apply: async (db, events, schema) => {
      const table = `${schema}.tallies`;
      const newest = new Map<string, Row>();
      const deleted: string[] = [];
      for (const { event } of events) {
        const id = event!.streamId.slice('tally-'.length);
        if (event!.type === '$streamDeleted') deleted.push(id);
        else newest.set(id, { id, n: (event!.data as { n: number }).n, revision: Number(event!.revision) });
      }
      await write(db, [...newest.values()], table);
      for (const id of deleted) await erase(db, id, table);
    },
  };

  return {
    pool,
    databaseUrl: database.url,
    eventStoreUrl: store.url,
    projection,
    migrations,
    /** Arguments of `rebuild` and `verify`. */
    options: <Changes extends object>(changes = {} as Changes) => ({
      client,
      databaseUrl: database.url,
      projection,
      migrations,
      signal: new AbortController().signal,
      ...changes,
    }),
    /** Appends an event and writes its row before it resolves. */
    tally: async (id: string, n: number): Promise<number> => {
      const appended = await client.appendToStream(`tally-${id}`, jsonEvent({ type: 'Tallied', data: { n } }));
      const revision = Number(appended.nextExpectedRevision);
      await write(pool, [{ id, n, revision }]);
      return revision;
    },
    remove: async (id: string) => {
      await client.tombstoneStream(`tally-${id}`);
      await erase(pool, id);
    },
    rows: async () =>
      (await pool.query<Row & { deleted: boolean }>(`select id, n, revision::int, deleted from ${LIVE} order by id`))
        .rows,
    revisionOf: async (id: string) =>
      (await pool.query<{ revision: number }>(`select revision::int from ${LIVE} where id = $1`, [id])).rows[0]
        ?.revision,
    /** How many shadow schemas exist. */
    shadowSchemas: async () =>
      (await pool.query("select 1 from pg_namespace where nspname = 'tallies_shadow'")).rowCount,
    /** Changes one row, deletes one and adds one. */
    corrupt: async () => {
      await pool.query(`update ${LIVE} set n = n + 1 where id = 'old-1'`);
      await pool.query(`delete from ${LIVE} where id = 'old-2'`);
      await pool.query(`insert into ${LIVE} (id, n, revision) values ('never', 1, 1)`);
    },
    stop: async () => {
      await store.stop();
      await pool.end();
      await database.drop();
      rmSync(migrations, { recursive: true });
    },
  };
};
