-- The exact number of orders of each merchant by day, status and currency, and of all days together. A trigger keeps them in the statement
-- that writes the rows (ADR 16). The counts by spans of time go.
drop trigger if exists count_inserted on orders;
drop trigger if exists count_updated on orders;
drop trigger if exists count_removed on orders;
drop function count_inserted_orders, count_updated_orders, count_removed_orders;
drop function count_inserted_orders_in_5_spans, count_updated_orders_in_5_spans, count_removed_orders_in_5_spans;
drop function count_inserted_orders_with_totals_in_5_spans, count_updated_orders_with_totals_in_5_spans, count_removed_orders_with_totals_in_5_spans;
drop table order_counts, order_totals;

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

lock table orders in share row exclusive mode;
create trigger count_inserted after insert on orders referencing new table as new_rows
  for each statement execute function count_orders();
create trigger count_updated after update on orders referencing old table as old_rows new table as new_rows
  for each statement execute function count_orders();
create trigger count_deleted after delete on orders referencing old table as old_rows
  for each statement execute function count_orders();
insert into order_counts
select merchant_id, days.day, status, currency, count(*)
from orders cross join lateral (values ((created_at at time zone 'UTC')::date), ('-infinity')) as days (day)
where not deleted group by 1, 2, 3, 4;

-- One index for each combination of filters: lists read their first rows, and skip rows in the index alone.
drop index orders_by_status;
create index orders_by_status on orders (merchant_id, status, created_at, id) where not deleted;
create index orders_by_currency on orders (merchant_id, currency, created_at, id) where not deleted;
create index orders_by_status_and_currency on orders (merchant_id, status, currency, created_at, id) where not deleted;
alter table orders set (autovacuum_vacuum_insert_scale_factor = 0.02);
