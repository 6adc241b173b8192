-- Orders: the read model, built from the streams of orders.

-- `resource` is the order exactly as the API shows it. A deleted order keeps its id and merchant, so that a late event cannot bring it back.
create table orders (
  id text primary key,
  merchant_id text not null,
  external_reference_id text,
  status text,
  currency text,
  created_at timestamptz,
  revision bigint not null,
  deleted boolean not null default false,
  resource json,
  -- When the clock has something to do for the order, and until when an instance has claimed that.
  due_at timestamptz,
  claimed_until timestamptz,
  -- When something last happened to the order: what looks for events of a range skips orders that ended before it.
  last_event_at timestamptz,
  total_amount numeric,
  -- Hashes of the keys of `metadata` with their values, divided by spaces.
  metadata_hashes text
) with (
  -- Keeps `resource` of rows up to 8 KB uncompressed: a typical order has 1.9 KB, and a page shows 100 of them.
  toast_tuple_target = 8160,
  -- Lists read recent rows from an index alone once they are vacuumed.
  autovacuum_vacuum_insert_scale_factor = 0.02
);
-- One index for each combination of filters: lists read their first rows, and skip rows in the index alone. Those that include a column
-- also find the first ones of many rows by it.
create index orders_newest on orders (merchant_id, created_at desc, id desc) include (last_event_at) where not deleted;
create index orders_by_status on orders (merchant_id, status, created_at, id) where not deleted;
create index orders_by_currency on orders (merchant_id, currency, created_at, id) include (total_amount) where not deleted;
create index orders_by_status_and_currency on orders (merchant_id, status, currency, created_at, id) where not deleted;
create index orders_by_amount on orders (merchant_id, currency, total_amount, created_at, id) where not deleted;
create index orders_by_reference on orders (merchant_id, external_reference_id) where not deleted;
create index orders_by_update on orders (merchant_id, last_event_at, created_at, id) where not deleted;
create index orders_due on orders (due_at) where due_at is not null;

-- The orders that have a key of metadata with a value (ADR 47): a row for each hash in `metadata_hashes`.
create table order_metadata (
  -- The order, then the hash.
  id text primary key,
  merchant_id text not null,
  hash text not null,
  created_at timestamptz not null,
  order_id text not null
) with (autovacuum_vacuum_insert_scale_factor = 0.02);
create index order_metadata_newest on order_metadata (merchant_id, hash, created_at, order_id);

create function hash_metadata() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_op = 'INSERT' then
    insert into order_metadata (id, merchant_id, hash, created_at, order_id)
    select id || ' ' || hash, merchant_id, hash, created_at, id
    from new_rows cross join lateral string_to_table(metadata_hashes, ' ') as hash
    on conflict (id) do nothing;
  elsif tg_op = 'UPDATE' then
    delete from order_metadata where id in (
      select before.id || ' ' || hash from old_rows as before join new_rows as after using (id)
        cross join lateral string_to_table(before.metadata_hashes, ' ') as hash
      where before.metadata_hashes is distinct from after.metadata_hashes
        and hash <> all (coalesce(string_to_array(after.metadata_hashes, ' '), '{}')));
    insert into order_metadata (id, merchant_id, hash, created_at, order_id)
    select after.id || ' ' || hash, after.merchant_id, hash, after.created_at, after.id
    from old_rows as before join new_rows as after using (id)
      cross join lateral string_to_table(after.metadata_hashes, ' ') as hash
    where before.metadata_hashes is distinct from after.metadata_hashes
    on conflict (id) do nothing;
  else
    delete from order_metadata where id in (
      select id || ' ' || hash from old_rows cross join lateral string_to_table(metadata_hashes, ' ') as hash);
  end if;
  return null;
end $$;
-- PostgreSQL runs triggers in the order of their names: these before those that count, which hold a lock.
create trigger add_metadata after insert on orders referencing new table as new_rows
  for each statement execute function hash_metadata();
create trigger change_metadata after update on orders referencing old table as old_rows new table as new_rows
  for each statement execute function hash_metadata();
create trigger clear_metadata after delete on orders referencing old table as old_rows
  for each statement execute function hash_metadata();

-- The exact number of orders of each merchant by day, status and currency, and of all days together (ADR 16).
create table order_counts (
  merchant_id text not null,
  -- A day in UTC, or -infinity for all days.
  day date not null,
  status text not null,
  currency text not null,
  n int not null,
  primary key (merchant_id, day, status, currency)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Some orders of a merchant that are counted in the same rows.
create type counted_orders as (merchant_id text, day date, status text, currency text, n int);

create function count_orders() returns trigger language plpgsql set search_path from current as $$
declare
  changes counted_orders[] := '{}';
begin
  if tg_op <> 'DELETE' then
    changes := array(
      select (merchant_id, (created_at at time zone 'UTC')::date, status, currency, 1)::counted_orders from new_rows where not deleted);
  end if;
  if tg_op <> 'INSERT' then
    changes := changes || array(
      select (merchant_id, (created_at at time zone 'UTC')::date, status, currency, -1)::counted_orders from old_rows where not deleted);
  end if;
  changes := array(
    select (merchant_id, day, status, currency, sum(n))::counted_orders from unnest(changes)
    group by merchant_id, day, status, currency having sum(n) <> 0);
  if cardinality(changes) > 0 then
    -- One statement may run this for inserted and for updated rows. With this lock, no two of them wait for each other.
    perform pg_advisory_xact_lock(tg_relid::bigint);
    insert into order_counts as counted
    select merchant_id, days.day, status, currency, sum(n)
    from unnest(changes) as changed cross join lateral (values (changed.day), ('-infinity')) as days (day)
    group by merchant_id, days.day, status, currency
    on conflict (merchant_id, day, status, currency) do update set n = counted.n + excluded.n;
  end if;
  return null;
end $$;
create trigger count_inserted after insert on orders referencing new table as new_rows
  for each statement execute function count_orders();
create trigger count_updated after update on orders referencing old table as old_rows new table as new_rows
  for each statement execute function count_orders();
create trigger count_deleted after delete on orders referencing old table as old_rows
  for each statement execute function count_orders();

-- Published: the gateway is granted these views, and no table.

-- Deleted orders are among them, without `resource`.
create view api_orders as
  select id, merchant_id, external_reference_id, status, currency, created_at, revision, deleted, resource, last_event_at as updated_at,
    total_amount
  from orders;
create view api_order_metadata as select order_id as id, merchant_id, hash, created_at from order_metadata;
create view api_order_counts as select merchant_id, day, status, currency, n from order_counts;

-- By source of exchange rates: the last price of a currency in US dollars that was accepted.
create table accepted_prices (
  currency text not null,
  source text not null,
  -- A decimal number.
  usd text not null,
  at timestamptz not null,
  primary key (currency, source)
);

-- Subscriptions to the event store.

create table checkpoints (
  name text primary key,
  -- The fencing token of the leader that moved it last.
  epoch bigint not null,
  commit_position numeric,
  prepare_position numeric,
  -- The identity of the event store, and the event at the position: they show whether the store still is the one that the checkpoint
  -- belongs to.
  store_id text,
  event_id text,
  event_stream text,
  -- Set while another number of shards (LOG_SHARDS) is in use. The row stays, because its name is that of a producer in Kafka which later
  -- leaders fence.
  retired_at timestamptz
);

-- Streams of which a subscription could not handle an event. The later events of the stream wait behind it; other streams
-- go on. The service tries again after each start and every five minutes, and deletes the row when it succeeds.
create table parked_streams (
  subscription text not null,
  stream text not null,
  -- The first event that waits.
  revision bigint not null,
  event_id text not null,
  event_type text not null,
  reason text not null,
  parked_at timestamptz not null default now(),
  tried_at timestamptz not null default now(),
  primary key (subscription, stream)
);

-- The version of each projection that built its live tables, by its first table. A rebuild writes it in the transaction that replaces them.
create table projection_versions (
  projection text primary key,
  version int not null
);
