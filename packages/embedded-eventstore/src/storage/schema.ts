import type { ClientBase } from 'pg';

/** Format of the tables below. A database of another format is refused, never converted. */
export const FORMAT = 1;

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
  insert into eventstore.format (version) values (${FORMAT}) on conflict do nothing;
`;

/** A fault that waiting does not mend; its message is a sentence for the person who starts the server. */
export class UnusableDatabaseError extends Error {}

/** Makes the tables that are not there; one that is added leaves the format as it was. Throws UnusableDatabaseError when they are of another format. */
export const prepareSchema = async (client: ClientBase): Promise<void> => {
  const found = await formatOf(client);
  if (found !== null && found !== FORMAT) {
    throw new UnusableDatabaseError(
      `the event store database has data format ${found}, this server reads format ${FORMAT}: ` +
        'use the version that wrote it, or start with an empty database',
    );
  }
  await client.query(`set client_min_messages = warning; begin; ${SCHEMA} commit;`);
};

const formatOf = async (client: ClientBase): Promise<number | null> => {
  const there = await client.query<{ name: string | null }>(`select to_regclass('eventstore.format') as name`);
  if (!there.rows[0]?.name) return null;
  const { rows } = await client.query<{ version: number }>('select version from eventstore.format');
  return rows[0]?.version ?? null;
};
