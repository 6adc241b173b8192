-- Adds changes of the same minute before it moves them to the spans: to find the minute of a change
-- costs more than all else.
create or replace function merge_delivery_counts(most int) returns int language plpgsql as $$
declare
  changes tid[];
  counts webhooks.delivery_count_spans;
begin
  perform pg_advisory_xact_lock('webhooks.delivery_count_spans'::regclass::bigint);
  changes := array(select ctid from webhooks.delivery_count_changes limit most);
  for counts in
    with change as (
      delete from webhooks.delivery_count_changes where ctid = any (changes) returning *
    ), minutes as (
      select webhook_id, webhooks.minute_of_delivery(id) as minute, event_type, day, was, became, sum(n) as n
      from change group by 1, 2, 3, 4, 5, 6
    )
    insert into webhooks.delivery_count_spans as counted
    select webhook_id, span, status, minute - minute % span, event_type, day, sum(n) from (
      select webhook_id, minute, event_type, day, status, case status when was then -n else n end as n
      from minutes cross join lateral (values (was), (became)) as statuses (status) where status is not null
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
