import type { ClientBase } from 'pg';

/** Version of the tables below. A database of another version is refused, never converted. */
const SCHEMA_VERSION = 1;

const SCHEMA = `
  create schema if not exists eventstore;
  create table if not exists eventstore.format (
    only_row boolean primary key default true check (only_row),
    version  integer not null
  );
  create table if not exists eventstore.event (
    position  bigint  primary key,
    stream    text    collate "C" not null,
    revision  bigint  not null,
    id        uuid    not null,
    type      text    collate "C" not null,
    is_json   boolean not null,
    created   bigint  not null,
    data      bytea   not null,
    metadata  bytea   not null
  );
  create unique index if not exists event_by_revision on eventstore.event (stream, revision);
  create index if not exists event_by_id on eventstore.event (stream, id);
  create table if not exists eventstore.removal (
    only_row     boolean primary key default true check (only_row),
    pruned_up_to bigint  not null,
    removed      bigint  not null,
    reclaimed    bigint  not null
  );
  insert into eventstore.removal (pruned_up_to, removed, reclaimed) values (0, 0, 0) on conflict do nothing;
  insert into eventstore.format (version) values (${SCHEMA_VERSION}) on conflict do nothing;
`;

/** Another version of this server wrote the database. The message tells the operator what to do. */
export class UnsupportedSchemaVersion extends Error {}

/** Creates missing tables. Throws UnsupportedSchemaVersion for tables of another version. */
export const prepareSchema = async (client: ClientBase): Promise<void> => {
  const found = await storedVersion(client);
  if (found !== null && found !== SCHEMA_VERSION) {
    throw new UnsupportedSchemaVersion(
      `the event store database has data format ${found}, this server reads format ${SCHEMA_VERSION}: ` +
        'use the version that wrote it, or start with an empty database',
    );
  }
  await client.query(`set client_min_messages = warning; begin; ${SCHEMA} commit;`);
};

const storedVersion = async (client: ClientBase): Promise<number | null> => {
  const table = await client.query<{ name: string | null }>(`select to_regclass('eventstore.format') as name`);
  if (!table.rows[0]?.name) return null;
  const { rows } = await client.query<{ version: number }>('select version from eventstore.format');
  return rows[0]?.version ?? null;
};
