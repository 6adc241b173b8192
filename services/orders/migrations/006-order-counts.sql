-- The exact number of orders of a merchant, by currency and status, for spans of 1 minute, 2 hours and 1 week. Totals and distant
-- pages of lists come from them. Triggers keep them in the statement that writes the rows, whichever version of the service runs it.
create table order_counts (
  merchant_id text not null,
  -- The length of the span and its first minute since 1970, in minutes.
  span int not null,
  start bigint not null,
  currency text not null,
  count int not null,
  initialized int not null,
  awaiting_payment int not null,
  partially_paid int not null,
  paid int not null,
  reversed int not null,
  partially_paid_expired int not null,
  expired int not null,
  canceled int not null,
  primary key (merchant_id, span, start, currency)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- One function for each operation, because each has other transition tables.
do $do$
declare
  template constant text := $template$
    create function {schema}.{name}() returns trigger language plpgsql as $$
    begin
      if not exists (
        select from ({changes}) as changes where not deleted and created_at is not null
        group by merchant_id, currency, status, created_at having sum(n) <> 0
      ) then
        return null;
      end if;
      -- A statement may run two of these functions, each with counts of several merchants. With this lock, no two statements wait for
      -- each other.
      perform pg_advisory_xact_lock(tg_relid::bigint);
      insert into {schema}.order_counts as counts
      select merchant_id, span, minute - minute % span, currency, sum(n),
        coalesce(sum(n) filter (where status = 'initialized'), 0),
        coalesce(sum(n) filter (where status = 'awaiting_payment'), 0),
        coalesce(sum(n) filter (where status = 'partially_paid'), 0),
        coalesce(sum(n) filter (where status = 'paid'), 0),
        coalesce(sum(n) filter (where status = 'reversed'), 0),
        coalesce(sum(n) filter (where status = 'partially_paid_expired'), 0),
        coalesce(sum(n) filter (where status = 'expired'), 0),
        coalesce(sum(n) filter (where status = 'canceled'), 0)
      from (
        select merchant_id, currency, status, floor(extract(epoch from created_at) / 60)::bigint as minute, sum(n) as n
        from ({changes}) as changes where not deleted and created_at is not null
        group by 1, 2, 3, 4 having sum(n) <> 0
      ) as change cross join (values (1), (120), (10080)) as spans (span)
      group by 1, 2, 3, 4
      on conflict (merchant_id, span, start, currency) do update set
        count = counts.count + excluded.count,
        initialized = counts.initialized + excluded.initialized,
        awaiting_payment = counts.awaiting_payment + excluded.awaiting_payment,
        partially_paid = counts.partially_paid + excluded.partially_paid,
        paid = counts.paid + excluded.paid,
        reversed = counts.reversed + excluded.reversed,
        partially_paid_expired = counts.partially_paid_expired + excluded.partially_paid_expired,
        expired = counts.expired + excluded.expired,
        canceled = counts.canceled + excluded.canceled;
      return null;
    end $$
  $template$;
  added constant text := 'select 1 as n, * from new_rows';
  removed constant text := 'select -1 as n, * from old_rows';
  operation text[];
begin
  foreach operation slice 1 in array array[
    array['count_inserted_orders', added],
    array['count_updated_orders', added || ' union all ' || removed],
    array['count_removed_orders', removed]
  ] loop
    execute replace(replace(replace(template,
      '{schema}', current_schema()), '{name}', operation[1]), '{changes}', operation[2]);
  end loop;

  -- A table with rows keeps its indexes and has no counts until the rebuild of this version of the projection replaces it, so that no
  -- request waits for this migration. Lists count the rows until then.
  lock table orders in share row exclusive mode;
  if exists (select from orders) then
    return;
  end if;
  create trigger count_inserted after insert on orders referencing new table as new_rows
    for each statement execute function count_inserted_orders();
  create trigger count_updated after update on orders referencing old table as old_rows new table as new_rows
    for each statement execute function count_updated_orders();
  create trigger count_removed after delete on orders referencing old table as old_rows
    for each statement execute function count_removed_orders();
  drop index orders_by_status;
  create index orders_by_status on orders (merchant_id, status, currency, created_at, id) where not deleted;
  -- Lists read recent rows from the index alone once they are vacuumed.
  alter table orders set (autovacuum_vacuum_insert_scale_factor = 0.02);
end $do$;
