-- Lists of deliveries in less time. Migration 008 computes the same from functions that the planner copies into statements, up to 60
-- expressions each, and reads the changes once for each span. Its functions stay: statements of the version before may still run.

-- The number of matching deliveries with a smaller id: whole spans, changes, and rows of the last minute. All of them without an id.
-- `changed_numbers` are the changes of the matching deliveries, by minute and partition.
create function delivery_rank(
  wanted_webhook text, wanted_type text, statuses text[], changed_minutes bigint[], changed_days date[], changed_numbers bigint[], before_id text
) returns bigint language plpgsql stable as $$
declare
  -- Without an id, a minute after all deliveries.
  minute constant bigint := case when before_id is null then 1::bigint << 32 else webhooks.minute_of_delivery(before_id) end;
  hour constant bigint := minute - minute % 120;
  whole_day constant bigint := minute - minute % 1440;
  in_spans bigint;
  in_minute bigint := 0;
  days date[];
begin
  select sum(n) into in_spans from (
    select event_type, n from webhooks.delivery_count_spans
    where webhook_id = wanted_webhook and span = 1440 and status = any (statuses) and start < whole_day
    union all
    select event_type, n from webhooks.delivery_count_spans
    where webhook_id = wanted_webhook and span = 120 and status = any (statuses) and start >= whole_day and start < hour
    union all
    select event_type, n from webhooks.delivery_count_spans
    where webhook_id = wanted_webhook and span = 1 and status = any (statuses) and start >= hour and start < minute
    union all
    select wanted_type, changed.n from unnest(changed_minutes, changed_numbers) as changed (in_minute, n) where changed.in_minute < minute
  ) as counted where wanted_type is null or event_type = wanted_type;
  if before_id is null then
    return coalesce(in_spans, 0);
  end if;
  select array_agg(distinct day) into days from (
    select day from webhooks.delivery_count_spans
    where webhook_id = wanted_webhook and span = 1 and status = any (statuses) and start = minute
    union all
    select changed.day from unnest(changed_minutes, changed_days) as changed (in_minute, day) where changed.in_minute = minute
  ) as counted;
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
create or replace function list_deliveries(
  wanted_webhook text, wanted_type text, wanted_status text, from_id text, to_id text, after_id text, ascending bool, skipped int, size int
) returns table (total bigint, delivery webhooks.deliveries)
language plpgsql stable set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  statuses constant text[] := case when wanted_status is null then '{pending,delivered,failed}' else array[wanted_status] end;
  changed_minutes bigint[];
  changed_days date[];
  changed_numbers bigint[];
  lower_rank bigint := 0;
  upper_rank bigint;
  first_rank bigint;
  last_rank bigint;
  minutes bigint[];
  days date[];
  from_ids text[];
  to_ids text[];
  rank_of_minutes bigint;
begin
  select array_agg(minute), array_agg(day), array_agg(n) into changed_minutes, changed_days, changed_numbers from (
    select webhooks.minute_of_delivery(id) as minute, day,
      sum(case when became = any (statuses) then n else 0 end - case when was = any (statuses) then n else 0 end) as n
    from webhooks.delivery_count_changes
    where webhook_id = wanted_webhook and (wanted_type is null or event_type = wanted_type) group by 1, 2
  ) as changed where n <> 0;
  upper_rank := webhooks.delivery_rank(wanted_webhook, wanted_type, statuses, changed_minutes, changed_days, changed_numbers, to_id);
  if from_id is not null then
    lower_rank := webhooks.delivery_rank(wanted_webhook, wanted_type, statuses, changed_minutes, changed_days, changed_numbers, from_id);
  end if;
  total := greatest(upper_rank - lower_rank, 0);
  if after_id is not null and ascending then
    lower_rank := greatest(lower_rank,
      webhooks.delivery_rank(wanted_webhook, wanted_type, statuses, changed_minutes, changed_days, changed_numbers, after_id || '0'));
  elsif after_id is not null then
    upper_rank := least(upper_rank,
      webhooks.delivery_rank(wanted_webhook, wanted_type, statuses, changed_minutes, changed_days, changed_numbers, after_id));
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
  with whole_days as materialized (
    select start, up_to - n as before from (
      select start, n, sum(n) over (order by start)::bigint as up_to from (
        select start, sum(n)::bigint as n from (
          select start, event_type, n from webhooks.delivery_count_spans
          where webhook_id = wanted_webhook and span = 1440 and status = any (statuses)
          union all
          select changed.minute / 1440 * 1440, wanted_type, changed.n from unnest(changed_minutes, changed_numbers) as changed (minute, n)
        ) as counted where wanted_type is null or event_type = wanted_type group by start
      ) as spans
    ) as ranked where up_to > first_rank and up_to - n < last_rank
  ), hours as materialized (
    select start, up_to - n as before from (
      select start, n, before + sum(n) over (partition by before order by start)::bigint as up_to from (
        select before, counted.start, sum(n)::bigint as n from whole_days cross join lateral (
          select start, event_type, n from webhooks.delivery_count_spans
          where webhook_id = wanted_webhook and span = 120 and status = any (statuses)
            and start >= whole_days.start and start < whole_days.start + 1440
          union all
          select changed.minute / 120 * 120, wanted_type, changed.n from unnest(changed_minutes, changed_numbers) as changed (minute, n)
          where changed.minute >= whole_days.start and changed.minute < whole_days.start + 1440
        ) as counted where wanted_type is null or event_type = wanted_type group by before, counted.start
      ) as spans
    ) as ranked where up_to > first_rank and up_to - n < last_rank
  ), minutes_of_page as materialized (
    select start, up_to - n as before from (
      select start, n, before + sum(n) over (partition by before order by start)::bigint as up_to from (
        select before, counted.start, sum(n)::bigint as n from hours cross join lateral (
          select start, event_type, n from webhooks.delivery_count_spans
          where webhook_id = wanted_webhook and span = 1 and status = any (statuses) and start >= hours.start and start < hours.start + 120
          union all
          select changed.minute, wanted_type, changed.n from unnest(changed_minutes, changed_numbers) as changed (minute, n)
          where changed.minute >= hours.start and changed.minute < hours.start + 120
        ) as counted where wanted_type is null or event_type = wanted_type group by before, counted.start
      ) as spans
    ) as ranked where up_to > first_rank and up_to - n < last_rank
  )
  select array_agg(start), min(before) into minutes, rank_of_minutes from minutes_of_page;
  select array_agg(day), array_agg(webhooks.first_delivery_id(start * 60000)), array_agg(webhooks.first_delivery_id(start * 60000 + 60000))
    into days, from_ids, to_ids from (
      select start, day from webhooks.delivery_count_spans
      where webhook_id = wanted_webhook and span = 1 and status = any (statuses) and start = any (minutes)
        and (wanted_type is null or event_type = wanted_type)
      union
      select changed.minute, changed.day from unnest(changed_minutes, changed_days) as changed (minute, day) where changed.minute = any (minutes)
    ) as cell;
  -- Planned with the days as constants, so that it opens their partitions alone. The inner limit makes it read each minute by the index.
  return query execute format(
    'select $1, page from (
       select page from unnest($2, $3, $4) as cell (day, from_id, to_id) cross join lateral (
         select d from webhooks.deliveries d where d.day = any ($5) and d.day = cell.day and d.webhook_id = $6
           and d.id >= cell.from_id and d.id < cell.to_id and ($7 is null or d.event_type = $7) and d.status = any ($8)
         limit $9 + $10
       ) as matching (page) order by (page).id limit $9 offset $10
     ) as listed order by (page).id %s', case when ascending then 'asc' else 'desc' end)
    using total, days, from_ids, to_ids, array(select distinct unnest(days)), wanted_webhook, wanted_type, statuses,
      last_rank - first_rank, first_rank - rank_of_minutes;
end $$;
