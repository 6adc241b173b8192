-- The counts over all currencies: lists without a filter by currency read one row of each span instead of up to six. Triggers keep them in
-- the statement that keeps the counts by currency. The functions do the same as those of migration 007 otherwise.
create table order_totals (
  merchant_id text not null,
  span int not null,
  start bigint not null,
  count int not null,
  initialized int not null,
  awaiting_payment int not null,
  partially_paid int not null,
  paid int not null,
  reversed int not null,
  partially_paid_expired int not null,
  expired int not null,
  canceled int not null,
  primary key (merchant_id, span, start)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

do $do$
declare
  template constant text := $template$
    create function {schema}.count_{operation}_orders_with_totals_in_5_spans() returns trigger language plpgsql as $$
    begin
      if not exists (
        select from ({changes}) as changes where not deleted and created_at is not null
        group by merchant_id, currency, status, created_at having sum(n) <> 0
      ) then
        return null;
      end if;
      -- With this lock, no two statements wait for each other.
      perform pg_advisory_xact_lock(tg_relid::bigint);
      with change as materialized (
        select merchant_id, span, minute - minute % span as start, currency, sum(n) as count,
          coalesce(sum(n) filter (where status = 'initialized'), 0) as initialized,
          coalesce(sum(n) filter (where status = 'awaiting_payment'), 0) as awaiting_payment,
          coalesce(sum(n) filter (where status = 'partially_paid'), 0) as partially_paid,
          coalesce(sum(n) filter (where status = 'paid'), 0) as paid,
          coalesce(sum(n) filter (where status = 'reversed'), 0) as reversed,
          coalesce(sum(n) filter (where status = 'partially_paid_expired'), 0) as partially_paid_expired,
          coalesce(sum(n) filter (where status = 'expired'), 0) as expired,
          coalesce(sum(n) filter (where status = 'canceled'), 0) as canceled
        from (
          select merchant_id, currency, status, floor(extract(epoch from created_at) / 60)::bigint as minute, sum(n) as n
          from ({changes}) as changes where not deleted and created_at is not null
          group by 1, 2, 3, 4 having sum(n) <> 0
        ) as change cross join (values (1), (12), (120), (1680), (10080)) as spans (span)
        group by 1, 2, 3, 4
      ), by_currency as (
        insert into {schema}.order_counts as counts select * from change
        on conflict (merchant_id, span, start, currency) do update set {added}
      )
      insert into {schema}.order_totals as counts
      select merchant_id, span, start, sum(count), sum(initialized), sum(awaiting_payment), sum(partially_paid), sum(paid), sum(reversed),
        sum(partially_paid_expired), sum(expired), sum(canceled)
      from change group by 1, 2, 3
      on conflict (merchant_id, span, start) do update set {added};
      return null;
    end $$
  $template$;
  added_counts constant text := (
    select string_agg(format('%1$I = counts.%1$I + excluded.%1$I', name), ', ')
    from unnest(array['count', 'initialized', 'awaiting_payment', 'partially_paid', 'paid', 'reversed', 'partially_paid_expired', 'expired',
      'canceled']) as name
  );
  added constant text := 'select 1 as n, * from new_rows';
  removed constant text := 'select -1 as n, * from old_rows';
  operation text[];
  counting record;
begin
  foreach operation slice 1 in array array[
    array['inserted', added],
    array['updated', added || ' union all ' || removed],
    array['removed', removed]
  ] loop
    execute replace(replace(replace(replace(template,
      '{schema}', current_schema()), '{operation}', operation[1]), '{changes}', operation[2]), '{added}', added_counts);
  end loop;

  -- A table with rows keeps its triggers until the rebuild of this version of the projection replaces it. Lists count its rows until then.
  lock table orders in share row exclusive mode;
  if exists (select from orders) then
    return;
  end if;
  for counting in
    select tgname as name,
      regexp_replace(pg_get_triggerdef(oid), '(_in_5_spans)?\(\)$', '_with_totals_in_5_spans()') as definition
    from pg_trigger where tgrelid = 'orders'::regclass and tgname like 'count\_%'
  loop
    execute format('drop trigger %I on orders', counting.name);
    execute counting.definition;
  end loop;
end $do$;
