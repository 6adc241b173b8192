import type { ClientBase } from 'pg';

/** Of the tables below. A database that another version wrote is refused, never guessed at. */
const FORMAT = 1;

export class ForeignFormat extends Error {
  override readonly name = 'ForeignFormat';
}

// `position` counts the bytes of the partition up to and with the batch, `max_timestamp` is the largest one so far: both only
// grow with the offset, so a point in time or a number of bytes is found by index. Records are compressed by their producer or
// not at all, hence storage "external".
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
  );`;

/** Makes the tables unless they are there; answers the cluster id. Throws ForeignFormat for those of another version. */
export const prepareSchema = async (db: ClientBase): Promise<string> => {
  const found = await db.query<{ format: string | null }>(`select to_regclass('kafka.format') as format`);
  if (found.rows[0]?.format === null) {
    // One simple query is one transaction: a crash leaves all of the tables or none.
    await db.query(`begin; ${TABLES}; insert into kafka.format (version) values (${FORMAT}); commit;`);
  }
  const { rows } = await db.query<{ version: number; cluster_id: string }>('select * from kafka.format');
  const [format] = rows;
  if (rows.length !== 1 || format?.version !== FORMAT) {
    throw new ForeignFormat(
      `The Kafka data was written in format ${format?.version}, this broker reads format ${FORMAT}: ` +
        'run the version that wrote it, or empty the data folder with "npm run reset".',
    );
  }
  return format.cluster_id;
};
