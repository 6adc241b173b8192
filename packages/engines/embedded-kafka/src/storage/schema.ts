import type { ClientBase } from 'pg';

/** The tables were made by another version of this package. */
export class UnsupportedSchemaVersion extends Error {
  override readonly name = 'UnsupportedSchemaVersion';
}

/** Version of the tables below. Tables of another version are refused, never converted: versions before 0.2.0 made up
 *  to version 4. */
const SCHEMA_VERSION = 5;

// `position` counts the bytes of the partition up to the end of the batch. `max_timestamp` is the largest timestamp so
// far. Both only grow with the offset, so an index finds the batch for a time or for a number of bytes. The storage is
// "external", because compressing record batches again gains nothing. `open_since` is the first offset of the open
// transaction of the producer in the log. `kafka.transaction.partitions` are those of the ongoing transaction.
const TABLES = `
  create schema if not exists kafka;
  create table kafka.format (version int not null, cluster_id uuid not null default gen_random_uuid());
  create sequence kafka.producer_id minvalue 0 start 0;
  create table kafka.topic (
    id int generated always as identity primary key,
    name text not null,
    partitions int not null,
    config jsonb not null,
    deleted boolean not null default false
  );
  create unique index on kafka.topic (name) where not deleted;
  create table kafka.log_start (
    topic_id int not null references kafka.topic on delete cascade,
    partition int not null,
    log_start bigint not null,
    primary key (topic_id, partition)
  );
  create table kafka.batch (
    topic_id int not null,
    partition int not null,
    base_offset bigint not null,
    last_offset bigint not null,
    max_timestamp bigint not null,
    position bigint not null,
    records bytea not null,
    primary key (topic_id, partition, last_offset)
  );
  alter table kafka.batch alter column records set storage external;
  create index on kafka.batch (topic_id, partition, max_timestamp, last_offset);
  create index on kafka.batch (topic_id, partition, position);
  create table kafka.producer (
    topic_id int not null references kafka.topic on delete cascade,
    partition int not null,
    producer_id bigint not null,
    epoch int not null,
    batches jsonb not null,
    open_since bigint,
    used_at timestamptz not null default now(),
    primary key (topic_id, partition, producer_id)
  );
  create table kafka.consumer_group (id text primary key, protocol_type text not null);
  create table kafka.group_offset (
    group_id text not null references kafka.consumer_group on delete cascade,
    topic_id int not null references kafka.topic on delete cascade,
    partition int not null,
    committed_offset bigint not null,
    leader_epoch int not null,
    metadata bytea not null,
    primary key (group_id, topic_id, partition)
  );
  create table kafka.transaction (
    id text primary key,
    producer_id bigint not null,
    epoch int not null,
    timeout_ms int not null,
    state text not null,
    started_at bigint not null,
    partitions jsonb not null,
    used_at timestamptz not null default now()
  );
  create table kafka.aborted_transaction (
    topic_id int not null references kafka.topic on delete cascade,
    partition int not null,
    producer_id bigint not null,
    first_offset bigint not null,
    last_offset bigint not null,
    primary key (topic_id, partition, last_offset)
  );`;

/** Creates missing tables and returns the cluster id. Throws UnsupportedSchemaVersion if another version made them. */
export const prepareSchema = async (db: ClientBase): Promise<string> => {
  const found = await db.query<{ format: string | null }>(`select to_regclass('kafka.format') as format`);
  // A simple query with several statements is one transaction: a crash leaves all of them or none.
  if (found.rows[0]?.format === null)
    await db.query(`begin; ${TABLES} insert into kafka.format (version) values (${SCHEMA_VERSION}); commit;`);
  const { rows } = await db.query<{ version: number; cluster_id: string }>('select * from kafka.format');
  const [stored] = rows;
  if (rows.length === 1 && stored?.version === SCHEMA_VERSION) return stored.cluster_id;
  throw new UnsupportedSchemaVersion(
    `The Kafka data has schema version ${stored?.version}, but this broker supports version ${SCHEMA_VERSION}: ` +
      'run the release that wrote the data, or empty the data folder with "npm run reset".',
  );
};
