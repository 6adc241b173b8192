-- The exact number of deliveries of a webhook, by status and type of event, for spans of 1 minute, 2 hours and 1 day. Totals and pages of
-- lists come from them. A delivery is created at the time in its id, and lists are sorted by id, so the spans follow the id too.
create function minute_of_delivery(id text) returns bigint language sql immutable parallel safe as $$
  select (((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 5, 1)) - 1)::bigint << 45) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 6, 1)) - 1)::bigint << 40) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 7, 1)) - 1)::bigint << 35) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 8, 1)) - 1)::bigint << 30) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 9, 1)) - 1)::bigint << 25) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 10, 1)) - 1)::bigint << 20) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 11, 1)) - 1)::bigint << 15) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 12, 1)) - 1)::bigint << 10) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 13, 1)) - 1)::bigint << 5) +
    ((strpos('0123456789ABCDEFGHJKMNPQRSTVWXYZ', substr(id, 14, 1)) - 1)::bigint << 0)) / 60000
$$;

-- The first id that a delivery could get at this time.
create function first_delivery_id(ms bigint) returns text language sql immutable parallel safe as $$
  select 'dlv_' ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 45 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 40 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 35 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 30 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 25 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 20 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 15 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 10 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 5 & 31)::int + 1, 1) ||
    substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', (ms >> 0 & 31)::int + 1, 1)
$$;

create table delivery_count_spans (
  webhook_id text not null,
  -- The length of the span and its first minute since 1970, in minutes.
  span int not null,
  status text not null,
  start bigint not null,
  event_type text not null,
  -- The partition of the deliveries. Retention removes its counts with it.
  day date not null,
  n int not null,
  primary key (webhook_id, span, status, start, event_type, day)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- What changed since the spans were updated: `n` deliveries got the status `became`. A change is one more row, so concurrent statements
-- never wait for each other. An instance moves them to the spans every second; until then readers add them.
create table delivery_count_changes (
  webhook_id text not null,
  id text not null,
  event_type text not null,
  day date not null,
  was text,
  became text,
  n int not null default 1
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index delivery_count_changes_webhook on delivery_count_changes (webhook_id);

-- Days whose deliveries existed before the triggers did. Lists count the rows until all of these are counted.
create table uncounted_days (day date primary key);

create function count_delivery() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into webhooks.delivery_count_changes values (old.webhook_id, old.id, old.event_type, old.day, old.status, null);
  else
    insert into webhooks.delivery_count_changes values (new.webhook_id, new.id, new.event_type, new.day, old.status, new.status);
  end if;
  return null;
end $$;

-- Triggers for rows also exist on each partition, whichever version of the service creates it.
lock table deliveries in share row exclusive mode;
create trigger count_inserted after insert on deliveries for each row execute function count_delivery();
create trigger count_updated after update on deliveries for each row when (old.status <> new.status) execute function count_delivery();
create trigger count_removed after delete on deliveries for each row execute function count_delivery();
insert into uncounted_days
select distinct to_date(right(relname, 8), 'YYYYMMDD') from pg_inherits join pg_class on oid = inhrelid where inhparent = 'deliveries'::regclass;

-- Adds the difference between the deliveries of a day and their counts to the changes, and returns how many rows that takes. One
-- statement, so one snapshot: it waits for nobody, and changes nothing when the counts are right.
create function correct_delivery_counts(wanted_day date) returns bigint language sql as $$
  with difference as (
    insert into webhooks.delivery_count_changes
    select webhook_id, webhooks.first_delivery_id(minute * 60000), event_type, wanted_day, null, status, sum(n) from (
      select webhook_id, webhooks.minute_of_delivery(id) as minute, event_type, status, 1 as n from webhooks.deliveries where day = wanted_day
      union all
      select webhook_id, start, event_type, status, -n from webhooks.delivery_count_spans where day = wanted_day and span = 1
      union all
      select webhook_id, webhooks.minute_of_delivery(id), event_type, became, -n from webhooks.delivery_count_changes where day = wanted_day
      union all
      select webhook_id, webhooks.minute_of_delivery(id), event_type, was, n from webhooks.delivery_count_changes where day = wanted_day
    ) as counted where status is not null group by webhook_id, minute, event_type, status having sum(n) <> 0
    returning 1
  )
  select count(*) from difference
$$;

-- Moves changes to the spans, at most `most` of them, and returns how many. Callers take turns.
create function merge_delivery_counts(most int) returns int language plpgsql as $$
declare
  changes tid[];
  counts webhooks.delivery_count_spans;
begin
  perform pg_advisory_xact_lock('webhooks.delivery_count_spans'::regclass::bigint);
  changes := array(select ctid from webhooks.delivery_count_changes limit most);
  for counts in
    with change as (
      delete from webhooks.delivery_count_changes where ctid = any (changes) returning *
    )
    insert into webhooks.delivery_count_spans as counted
    select webhook_id, span, status, minute - minute % span, event_type, day, sum(n) from (
      select webhook_id, webhooks.minute_of_delivery(id) as minute, event_type, day, status, case status when was then -n else n end as n
      from change cross join lateral (values (was), (became)) as statuses (status) where status is not null
    ) as single cross join (values (1), (120), (1440)) as spans (span)
    group by 1, 2, 3, 4, 5, 6 having sum(n) <> 0
    on conflict (webhook_id, span, status, start, event_type, day) do update set n = counted.n + excluded.n
    returning *
  loop
    -- Lists of few deliveries, like the failed ones, find them faster without empty spans.
    if counts.n = 0 then
      delete from webhooks.delivery_count_spans c where (c.webhook_id, c.span, c.status, c.start, c.event_type, c.day)
        = (counts.webhook_id, counts.span, counts.status, counts.start, counts.event_type, counts.day);
    end if;
  end loop;
  return cardinality(changes);
end $$;

-- The numbers of matching deliveries in the spans of a range, by span and partition, without the empty ones.
create function delivery_spans(
  wanted_webhook text, wanted_type text, statuses text[], wanted_span int, from_start bigint, to_start bigint
) returns table (start bigint, day date, n int) language sql stable as $$
  select start, day, sum(n)::int from (
    select start, day, event_type, n from webhooks.delivery_count_spans
    where webhook_id = wanted_webhook and span = wanted_span and status = any (statuses) and start >= from_start and start < to_start
    union all
    select webhooks.minute_of_delivery(id) / wanted_span * wanted_span, day, event_type,
      case when became = any (statuses) then n else 0 end - case when was = any (statuses) then n else 0 end
    from webhooks.delivery_count_changes
    where webhook_id = wanted_webhook and id >= webhooks.first_delivery_id(from_start * 60000) and id < webhooks.first_delivery_id(to_start * 60000)
  ) as counted
  where wanted_type is null or event_type = wanted_type
  group by start, day having sum(n) <> 0
$$;

-- The number of matching deliveries with a smaller id: whole spans, and rows of the last minute. All of them without an id.
create function delivery_rank(wanted_webhook text, wanted_type text, statuses text[], before_id text)
returns bigint language plpgsql stable as $$
declare
  minute constant bigint := webhooks.minute_of_delivery(before_id);
  in_spans bigint;
  in_minute bigint := 0;
  days date[];
begin
  if before_id is null then
    select sum(n) into in_spans from webhooks.delivery_spans(wanted_webhook, wanted_type, statuses, 1440, 0, 1::bigint << 32);
    return coalesce(in_spans, 0);
  end if;
  select sum(n) into in_spans
  from (values (1440, 0, minute - minute % 1440), (120, minute - minute % 1440, minute - minute % 120), (1, minute - minute % 120, minute))
    as spans (span, from_start, to_start)
  cross join lateral webhooks.delivery_spans(wanted_webhook, wanted_type, statuses, span, from_start, to_start);
  select array_agg(day) into days from webhooks.delivery_spans(wanted_webhook, wanted_type, statuses, 1, minute, minute + 1);
  if days is not null then
    -- Planned with the days as constants, so that it opens their partitions alone.
    execute 'select count(*) from webhooks.deliveries where day = any ($1) and webhook_id = $2 and id >= $3 and id < $4
        and ($5 is null or event_type = $5) and status = any ($6)'
      into in_minute using days, wanted_webhook, webhooks.first_delivery_id(minute * 60000), before_id, wanted_type, statuses;
  end if;
  return coalesce(in_spans, 0) + in_minute;
end $$;

-- A page of the deliveries with ids from `from_id` until before `to_id`, in one snapshot. `total` is the number of all of these; the page
-- also starts after `after_id`. Without deliveries on the page, one row has the total alone.
create function list_deliveries(
  wanted_webhook text, wanted_type text, wanted_status text, from_id text, to_id text, after_id text, ascending bool, skipped int, size int
) returns table (total bigint, delivery webhooks.deliveries)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  statuses constant text[] := case when wanted_status is null then '{pending,delivered,failed}' else array[wanted_status] end;
  lower_rank bigint := case when from_id is null then 0 else webhooks.delivery_rank(wanted_webhook, wanted_type, statuses, from_id) end;
  upper_rank bigint := webhooks.delivery_rank(wanted_webhook, wanted_type, statuses, to_id);
  first_rank bigint;
  last_rank bigint;
  days date[];
  minutes bigint[];
  rank_of_minutes bigint;
begin
  total := greatest(upper_rank - lower_rank, 0);
  if after_id is not null and ascending then
    lower_rank := greatest(lower_rank, webhooks.delivery_rank(wanted_webhook, wanted_type, statuses, after_id || '0'));
  elsif after_id is not null then
    upper_rank := least(upper_rank, webhooks.delivery_rank(wanted_webhook, wanted_type, statuses, after_id));
  end if;
  if ascending then
    first_rank := lower_rank + skipped;
    last_rank := least(first_rank + size, upper_rank);
  else
    last_rank := upper_rank - skipped;
    first_rank := greatest(last_rank - size, lower_rank);
  end if;
  if first_rank >= last_rank then
    return next;
    return;
  end if;
  -- The days, then the hours, then the minutes and partitions that have the deliveries of the page.
  with all_time as (
    select 0::bigint as inside, 0::bigint as before
  ), whole_days as materialized (
    select inside, before from (
      select start as inside, outer_span.before + sum(sum(n)) over (partition by outer_span.inside order by start)::bigint - sum(n) as before, sum(n) as n
      from all_time as outer_span cross join lateral webhooks.delivery_spans(
        wanted_webhook, wanted_type, statuses, 1440, outer_span.inside, outer_span.inside + (1::bigint << 32))
      group by outer_span.inside, outer_span.before, start
    ) as spans where before < last_rank and before + n > first_rank
  ), hours as materialized (
    select inside, before from (
      select start as inside, outer_span.before + sum(sum(n)) over (partition by outer_span.inside order by start)::bigint - sum(n) as before, sum(n) as n
      from whole_days as outer_span cross join lateral webhooks.delivery_spans(
        wanted_webhook, wanted_type, statuses, 120, outer_span.inside, outer_span.inside + 1440)
      group by outer_span.inside, outer_span.before, start
    ) as spans where before < last_rank and before + n > first_rank
  )
  select array_agg(day), array_agg(start), min(before) into days, minutes, rank_of_minutes from (
    select start, day, sum(n) over (partition by start) as n,
      outer_span.before + sum(n) over (partition by outer_span.inside order by start) - sum(n) over (partition by start) as before
    from hours as outer_span cross join lateral webhooks.delivery_spans(
      wanted_webhook, wanted_type, statuses, 1, outer_span.inside, outer_span.inside + 120)
  ) as spans where before < last_rank and before + n > first_rank;
  -- Planned with the days as constants, so that it opens their partitions alone. The inner limit makes it read each minute by the index.
  return query execute format(
    'select $1, page from (
       select page from (
         select day, webhooks.first_delivery_id(minute * 60000) as from_id, webhooks.first_delivery_id(minute * 60000 + 60000) as to_id
         from unnest($2, $3) as cells (day, minute) offset 0
       ) as cell cross join lateral (
         select d from webhooks.deliveries d where d.day = any ($4) and d.day = cell.day and d.webhook_id = $5
           and d.id >= cell.from_id and d.id < cell.to_id and ($6 is null or d.event_type = $6) and d.status = any ($7)
         limit $8 + $9
       ) as matching (page) order by (page).id limit $8 offset $9
     ) as listed order by (page).id %s', case when ascending then 'asc' else 'desc' end)
    using total, days, minutes, array(select distinct unnest(days)), wanted_webhook, wanted_type, statuses,
      last_rank - first_rank, first_rank - rank_of_minutes;
end $$;
