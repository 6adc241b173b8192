-- The exact numbers of payments of each merchant by day, status, currency and rail, and of refunds by day and currency, and those of all days
-- together. Triggers keep them in the statement that writes the rows (ADR 16). The counts by spans of time go.
drop trigger if exists count_inserted on payments;
drop trigger if exists count_updated on payments;
drop trigger if exists count_removed on payments;
drop trigger if exists count_inserted on refunds;
drop trigger if exists count_updated on refunds;
drop trigger if exists count_removed on refunds;
drop function count_inserted_payments, count_updated_payments, count_removed_payments;
drop function count_inserted_payments_in_5_spans, count_updated_payments_in_5_spans, count_removed_payments_in_5_spans;
drop function count_inserted_payments_with_totals_in_5_spans, count_updated_payments_with_totals_in_5_spans, count_removed_payments_with_totals_in_5_spans;
drop function count_inserted_refunds, count_updated_refunds, count_removed_refunds;
drop function count_inserted_refunds_in_5_spans, count_updated_refunds_in_5_spans, count_removed_refunds_in_5_spans;
drop function count_inserted_refunds_with_totals_in_5_spans, count_updated_refunds_with_totals_in_5_spans, count_removed_refunds_with_totals_in_5_spans;
drop table payment_counts, payment_totals, refund_counts, refund_totals;

create table payment_counts (
  merchant_id text not null,
  -- A day in UTC, or -infinity for all days.
  day date not null,
  status text not null,
  currency text not null,
  payment_rail text not null,
  n int not null,
  primary key (merchant_id, day, status, currency, payment_rail)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create table refund_counts (
  merchant_id text not null,
  day date not null,
  currency text not null,
  n int not null,
  primary key (merchant_id, day, currency)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Some payments or refunds of a merchant that are counted in the same rows.
create type counted_payments as (merchant_id text, day date, status text, currency text, payment_rail text, n int);
create type counted_refunds as (merchant_id text, day date, currency text, n int);

create function count_payments() returns trigger language plpgsql set search_path from current as $$
declare
  changes counted_payments[] := '{}';
begin
  if tg_op <> 'DELETE' then
    changes := array(
      select (merchant_id, (created_at at time zone 'UTC')::date, status, currency, payment_rail, 1)::counted_payments from new_rows where not deleted);
  end if;
  if tg_op <> 'INSERT' then
    changes := changes || array(
      select (merchant_id, (created_at at time zone 'UTC')::date, status, currency, payment_rail, -1)::counted_payments from old_rows where not deleted);
  end if;
  changes := array(
    select (merchant_id, day, status, currency, payment_rail, sum(n))::counted_payments from unnest(changes)
    group by merchant_id, day, status, currency, payment_rail having sum(n) <> 0);
  if cardinality(changes) > 0 then
    -- One statement may run this for inserted and for updated rows. With this lock, no two of them wait for each other.
    perform pg_advisory_xact_lock(tg_relid::bigint);
    insert into payment_counts as counted
    select merchant_id, days.day, status, currency, payment_rail, sum(n)
    from unnest(changes) as changed cross join lateral (values (changed.day), ('-infinity')) as days (day)
    group by merchant_id, days.day, status, currency, payment_rail
    on conflict (merchant_id, day, status, currency, payment_rail) do update set n = counted.n + excluded.n;
  end if;
  return null;
end $$;

create function count_refunds() returns trigger language plpgsql set search_path from current as $$
declare
  changes counted_refunds[] := '{}';
begin
  if tg_op <> 'DELETE' then
    changes := array(
      select (merchant_id, (created_at at time zone 'UTC')::date, currency, 1)::counted_refunds from new_rows);
  end if;
  if tg_op <> 'INSERT' then
    changes := changes || array(
      select (merchant_id, (created_at at time zone 'UTC')::date, currency, -1)::counted_refunds from old_rows);
  end if;
  changes := array(
    select (merchant_id, day, currency, sum(n))::counted_refunds from unnest(changes)
    group by merchant_id, day, currency having sum(n) <> 0);
  if cardinality(changes) > 0 then
    -- One statement may run this for inserted and for updated rows. With this lock, no two of them wait for each other.
    perform pg_advisory_xact_lock(tg_relid::bigint);
    insert into refund_counts as counted
    select merchant_id, days.day, currency, sum(n)
    from unnest(changes) as changed cross join lateral (values (changed.day), ('-infinity')) as days (day)
    group by merchant_id, days.day, currency
    on conflict (merchant_id, day, currency) do update set n = counted.n + excluded.n;
  end if;
  return null;
end $$;

lock table payments, refunds in share row exclusive mode;
create trigger count_inserted after insert on payments referencing new table as new_rows
  for each statement execute function count_payments();
create trigger count_updated after update on payments referencing old table as old_rows new table as new_rows
  for each statement execute function count_payments();
create trigger count_deleted after delete on payments referencing old table as old_rows
  for each statement execute function count_payments();
create trigger count_inserted after insert on refunds referencing new table as new_rows
  for each statement execute function count_refunds();
create trigger count_updated after update on refunds referencing old table as old_rows new table as new_rows
  for each statement execute function count_refunds();
create trigger count_deleted after delete on refunds referencing old table as old_rows
  for each statement execute function count_refunds();
insert into payment_counts
select merchant_id, days.day, status, currency, payment_rail, count(*)
from payments cross join lateral (values ((created_at at time zone 'UTC')::date), ('-infinity')) as days (day)
where not deleted group by 1, 2, 3, 4, 5;
insert into refund_counts
select merchant_id, days.day, currency, count(*)
from refunds cross join lateral (values ((created_at at time zone 'UTC')::date), ('-infinity')) as days (day)
group by 1, 2, 3;

-- One index for each combination of filters: lists read their first rows, and skip rows in the index alone.
drop index payments_by_status;
create index payments_by_status on payments (merchant_id, status, created_at, id) where not deleted;
create index payments_by_currency on payments (merchant_id, currency, created_at, id) where not deleted;
create index payments_by_rail on payments (merchant_id, payment_rail, created_at, id) where not deleted;
create index payments_by_status_and_currency on payments (merchant_id, status, currency, created_at, id) where not deleted;
create index payments_by_status_and_rail on payments (merchant_id, status, payment_rail, created_at, id) where not deleted;
create index payments_by_currency_and_rail on payments (merchant_id, currency, payment_rail, created_at, id) where not deleted;
create index payments_by_status_and_currency_and_rail on payments (merchant_id, status, currency, payment_rail, created_at, id) where not deleted;
drop index if exists refunds_by_currency;
create index refunds_by_currency on refunds (merchant_id, currency, created_at, id);
alter table payments set (autovacuum_vacuum_insert_scale_factor = 0.02);
