-- What the migrations of orders make. "pnpm schema" writes this file: do not edit it.

create type counted_orders as (
  merchant_id text,
  day date,
  status text,
  currency text,
  n integer
);

create table accepted_prices (
  currency text not null,
  source text not null,
  usd text not null,
  at timestamp with time zone not null,
  constraint accepted_prices_pkey PRIMARY KEY (currency, source)
);

create table checkpoints (
  name text not null,
  epoch bigint not null,
  commit_position numeric,
  prepare_position numeric,
  store_id text,
  event_id text,
  event_stream text,
  retired_at timestamp with time zone,
  constraint checkpoints_pkey PRIMARY KEY (name)
);

create table order_counts (
  merchant_id text not null,
  day date not null,
  status text not null,
  currency text not null,
  n integer not null,
  constraint order_counts_pkey PRIMARY KEY (merchant_id, day, status, currency)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);

create table order_metadata (
  id text not null,
  merchant_id text not null,
  hash text not null,
  created_at timestamp with time zone not null,
  order_id text not null,
  constraint order_metadata_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX order_metadata_newest ON orders.order_metadata USING btree (merchant_id, hash, created_at, order_id);

create table orders (
  id text not null,
  merchant_id text not null,
  external_reference_id text,
  status text,
  currency text,
  created_at timestamp with time zone,
  revision bigint not null,
  deleted boolean not null default false,
  resource json,
  due_at timestamp with time zone,
  claimed_until timestamp with time zone,
  last_event_at timestamp with time zone,
  total_amount numeric,
  metadata_hashes text,
  constraint orders_pkey PRIMARY KEY (id)
) with (toast_tuple_target=8160, autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX orders_by_amount ON orders.orders USING btree (merchant_id, currency, total_amount, created_at, id) WHERE (NOT deleted);
CREATE INDEX orders_by_currency ON orders.orders USING btree (merchant_id, currency, created_at, id) INCLUDE (total_amount) WHERE (NOT deleted);
CREATE INDEX orders_by_reference ON orders.orders USING btree (merchant_id, external_reference_id) WHERE (NOT deleted);
CREATE INDEX orders_by_status ON orders.orders USING btree (merchant_id, status, created_at, id) WHERE (NOT deleted);
CREATE INDEX orders_by_status_and_currency ON orders.orders USING btree (merchant_id, status, currency, created_at, id) WHERE (NOT deleted);
CREATE INDEX orders_by_update ON orders.orders USING btree (merchant_id, last_event_at, created_at, id) WHERE (NOT deleted);
CREATE INDEX orders_due ON orders.orders USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX orders_newest ON orders.orders USING btree (merchant_id, created_at DESC, id DESC) INCLUDE (last_event_at) WHERE (NOT deleted);
CREATE TRIGGER add_metadata AFTER INSERT ON orders.orders REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hash_metadata();
CREATE TRIGGER change_metadata AFTER UPDATE ON orders.orders REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION hash_metadata();
CREATE TRIGGER clear_metadata AFTER DELETE ON orders.orders REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION hash_metadata();
CREATE TRIGGER count_deleted AFTER DELETE ON orders.orders REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_orders();
CREATE TRIGGER count_inserted AFTER INSERT ON orders.orders REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_orders();
CREATE TRIGGER count_updated AFTER UPDATE ON orders.orders REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_orders();

create table parked_streams (
  subscription text not null,
  stream text not null,
  revision bigint not null,
  event_id text not null,
  event_type text not null,
  reason text not null,
  parked_at timestamp with time zone not null default now(),
  tried_at timestamp with time zone not null default now(),
  constraint parked_streams_pkey PRIMARY KEY (subscription, stream)
);

create table projection_versions (
  projection text not null,
  version integer not null,
  constraint projection_versions_pkey PRIMARY KEY (projection)
);

create view api_order_counts as
 SELECT merchant_id,
    day,
    status,
    currency,
    n
   FROM order_counts;

create view api_order_metadata as
 SELECT order_id AS id,
    merchant_id,
    hash,
    created_at
   FROM order_metadata;

create view api_orders as
 SELECT id,
    merchant_id,
    external_reference_id,
    status,
    currency,
    created_at,
    revision,
    deleted,
    resource,
    last_event_at AS updated_at,
    total_amount
   FROM orders;

CREATE OR REPLACE FUNCTION orders.count_orders()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'orders'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION orders.hash_metadata()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'orders'
AS $function$
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
end $function$;
