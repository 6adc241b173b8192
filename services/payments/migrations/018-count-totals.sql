-- The counts over all currencies: lists without a filter by currency read one or two rows of each span instead of up to 12. Triggers keep
-- them in the statement that keeps the counts by currency. The functions do the same as those of migration 015 otherwise.
create table payment_totals (
  merchant_id text not null,
  span int not null,
  start bigint not null,
  payment_rail text not null,
  count int not null,
  received int not null,
  applied int not null,
  orphan int not null,
  failed int not null,
  refunded int not null,
  primary key (merchant_id, span, start, payment_rail)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create table refund_totals (
  merchant_id text not null,
  span int not null,
  start bigint not null,
  count int not null,
  primary key (merchant_id, span, start)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

do $do$
declare
  of_payments constant text := $template$
    create function {schema}.count_{operation}_payments_with_totals_in_5_spans() returns trigger language plpgsql as $$
    begin
      if not exists (
        select from ({changes}) as changes where not deleted and created_at is not null
        group by merchant_id, currency, payment_rail, status, created_at having sum(n) <> 0
      ) then
        return null;
      end if;
      -- With this lock, no two statements wait for each other.
      perform pg_advisory_xact_lock(tg_relid::bigint);
      with change as materialized (
        select merchant_id, span, minute - minute % span as start, currency, payment_rail, sum(n) as count,
          coalesce(sum(n) filter (where status = 'received'), 0) as received,
          coalesce(sum(n) filter (where status = 'applied'), 0) as applied,
          coalesce(sum(n) filter (where status = 'orphan'), 0) as orphan,
          coalesce(sum(n) filter (where status = 'failed'), 0) as failed,
          coalesce(sum(n) filter (where status = 'refunded'), 0) as refunded
        from (
          select merchant_id, currency, payment_rail, status, floor(extract(epoch from created_at) / 60)::bigint as minute, sum(n) as n
          from ({changes}) as changes where not deleted and created_at is not null
          group by 1, 2, 3, 4, 5 having sum(n) <> 0
        ) as change cross join (values (1), (12), (120), (1680), (10080)) as spans (span)
        group by 1, 2, 3, 4, 5
      ), by_currency as (
        insert into {schema}.payment_counts as counts select * from change
        on conflict (merchant_id, span, start, currency, payment_rail) do update set {added}
      )
      insert into {schema}.payment_totals as counts
      select merchant_id, span, start, payment_rail, sum(count), sum(received), sum(applied), sum(orphan), sum(failed), sum(refunded)
      from change group by 1, 2, 3, 4
      on conflict (merchant_id, span, start, payment_rail) do update set {added};
      return null;
    end $$
  $template$;
  of_refunds constant text := $template$
    create function {schema}.count_{operation}_refunds_with_totals_in_5_spans() returns trigger language plpgsql as $$
    begin
      if not exists (select from ({changes}) as changes group by merchant_id, currency, created_at having sum(n) <> 0) then
        return null;
      end if;
      perform pg_advisory_xact_lock(tg_relid::bigint);
      with change as materialized (
        select merchant_id, span, minute - minute % span as start, currency, sum(n) as count
        from (
          select n, merchant_id, currency, floor(extract(epoch from created_at) / 60)::bigint as minute from ({changes}) as changes
        ) as change cross join (values (1), (12), (120), (1680), (10080)) as spans (span)
        group by 1, 2, 3, 4 having sum(n) <> 0
      ), by_currency as (
        insert into {schema}.refund_counts as counts select * from change
        on conflict (merchant_id, span, start, currency) do update set count = counts.count + excluded.count
      )
      insert into {schema}.refund_totals as counts select merchant_id, span, start, sum(count) from change group by 1, 2, 3
      on conflict (merchant_id, span, start) do update set count = counts.count + excluded.count;
      return null;
    end $$
  $template$;
  added_counts constant text := (
    select string_agg(format('%1$I = counts.%1$I + excluded.%1$I', name), ', ')
    from unnest(array['count', 'received', 'applied', 'orphan', 'failed', 'refunded']) as name
  );
  added constant text := 'select 1 as n, * from new_rows';
  removed constant text := 'select -1 as n, * from old_rows';
  operation text[];
  template text;
  counting record;
begin
  foreach operation slice 1 in array array[
    array['inserted', added],
    array['updated', added || ' union all ' || removed],
    array['removed', removed]
  ] loop
    foreach template in array array[of_payments, of_refunds] loop
      execute replace(replace(replace(replace(template,
        '{schema}', current_schema()), '{operation}', operation[1]), '{changes}', operation[2]), '{added}', added_counts);
    end loop;
  end loop;

  -- Tables with rows keep their triggers until the rebuild of this version of the projection replaces them. Lists count their rows until
  -- then.
  lock table payments, refunds in share row exclusive mode;
  if exists (select from payments) then
    return;
  end if;
  for counting in
    select tgname as name, tgrelid::regclass as on_table,
      regexp_replace(pg_get_triggerdef(oid), '(_in_5_spans)?\(\)$', '_with_totals_in_5_spans()') as definition
    from pg_trigger where tgrelid in ('payments'::regclass, 'refunds'::regclass) and tgname like 'count\_%'
  loop
    execute format('drop trigger %I on %s', counting.name, counting.on_table);
    execute counting.definition;
  end loop;
end $do$;
