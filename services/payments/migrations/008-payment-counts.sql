-- The exact numbers of payments by currency, rail and status, and of refunds by currency, for each merchant and for spans of 1 minute,
-- 2 hours and 1 week. Totals and distant pages of lists come from them. Triggers keep them in the statement that writes the rows,
-- whichever version of the service runs it.
create table payment_counts (
  merchant_id text not null,
  -- The length of the span and its first minute since 1970, in minutes.
  span int not null,
  start bigint not null,
  currency text not null,
  payment_rail text not null,
  count int not null,
  received int not null,
  applied int not null,
  orphan int not null,
  failed int not null,
  refunded int not null,
  primary key (merchant_id, span, start, currency, payment_rail)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create table refund_counts (
  merchant_id text not null,
  span int not null,
  start bigint not null,
  currency text not null,
  count int not null,
  primary key (merchant_id, span, start, currency)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- One function for each operation, because each has other transition tables.
do $do$
declare
  of_payments constant text := $template$
    create function {schema}.count_{operation}_payments() returns trigger language plpgsql as $$
    begin
      if not exists (
        select from ({changes}) as changes where not deleted and created_at is not null
        group by merchant_id, currency, payment_rail, status, created_at having sum(n) <> 0
      ) then
        return null;
      end if;
      -- A statement may run several of these functions, each with counts of several merchants. With this lock, no two statements wait
      -- for each other.
      perform pg_advisory_xact_lock(tg_relid::bigint);
      insert into {schema}.payment_counts as counts
      select merchant_id, span, minute - minute % span, currency, payment_rail, sum(n),
        coalesce(sum(n) filter (where status = 'received'), 0),
        coalesce(sum(n) filter (where status = 'applied'), 0),
        coalesce(sum(n) filter (where status = 'orphan'), 0),
        coalesce(sum(n) filter (where status = 'failed'), 0),
        coalesce(sum(n) filter (where status = 'refunded'), 0)
      from (
        select merchant_id, currency, payment_rail, status, floor(extract(epoch from created_at) / 60)::bigint as minute, sum(n) as n
        from ({changes}) as changes where not deleted and created_at is not null
        group by 1, 2, 3, 4, 5 having sum(n) <> 0
      ) as change cross join (values (1), (120), (10080)) as spans (span)
      group by 1, 2, 3, 4, 5
      on conflict (merchant_id, span, start, currency, payment_rail) do update set
        count = counts.count + excluded.count,
        received = counts.received + excluded.received,
        applied = counts.applied + excluded.applied,
        orphan = counts.orphan + excluded.orphan,
        failed = counts.failed + excluded.failed,
        refunded = counts.refunded + excluded.refunded;
      return null;
    end $$
  $template$;
  of_refunds constant text := $template$
    create function {schema}.count_{operation}_refunds() returns trigger language plpgsql as $$
    begin
      if not exists (select from ({changes}) as changes group by merchant_id, currency, created_at having sum(n) <> 0) then
        return null;
      end if;
      perform pg_advisory_xact_lock(tg_relid::bigint);
      insert into {schema}.refund_counts as counts
      select merchant_id, span, minute - minute % span, currency, sum(n)
      from (
        select n, merchant_id, currency, floor(extract(epoch from created_at) / 60)::bigint as minute from ({changes}) as changes
      ) as change cross join (values (1), (120), (10080)) as spans (span)
      group by 1, 2, 3, 4 having sum(n) <> 0
      on conflict (merchant_id, span, start, currency) do update set count = counts.count + excluded.count;
      return null;
    end $$
  $template$;
  added constant text := 'select 1 as n, * from new_rows';
  removed constant text := 'select -1 as n, * from old_rows';
  operation text[];
  template text;
begin
  foreach operation slice 1 in array array[
    array['inserted', added],
    array['updated', added || ' union all ' || removed],
    array['removed', removed]
  ] loop
    foreach template in array array[of_payments, of_refunds] loop
      execute replace(replace(replace(template,
        '{schema}', current_schema()), '{operation}', operation[1]), '{changes}', operation[2]);
    end loop;
  end loop;

  -- Tables with rows keep their indexes and have no counts until the rebuild of this version of the projection replaces them, so that no
  -- request waits for this migration. Lists count the rows until then.
  lock table payments, refunds in share row exclusive mode;
  if exists (select from payments) then
    return;
  end if;
  create trigger count_inserted after insert on payments referencing new table as new_rows
    for each statement execute function count_inserted_payments();
  create trigger count_updated after update on payments referencing old table as old_rows new table as new_rows
    for each statement execute function count_updated_payments();
  create trigger count_removed after delete on payments referencing old table as old_rows
    for each statement execute function count_removed_payments();
  create trigger count_inserted after insert on refunds referencing new table as new_rows
    for each statement execute function count_inserted_refunds();
  create trigger count_updated after update on refunds referencing old table as old_rows new table as new_rows
    for each statement execute function count_updated_refunds();
  create trigger count_removed after delete on refunds referencing old table as old_rows
    for each statement execute function count_removed_refunds();
  drop index payments_by_status;
  create index payments_by_status on payments (merchant_id, status, currency, payment_rail, created_at, id) where not deleted;
  create index refunds_by_currency on refunds (merchant_id, currency, created_at, id);
  -- Lists read recent rows from the index alone once they are vacuumed.
  alter table payments set (autovacuum_vacuum_insert_scale_factor = 0.02);
end $do$;
