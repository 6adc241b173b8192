-- Three histories, partitioned by the UTC day on which their event happened: the day follows from the event, so one event has one
-- place for ever and (event, webhook) stays unique, and retention drops whole partitions. Beside them one small table of work.

-- Events as merchants see them: the body is the bytes of every attempt, to every endpoint.
create table events (
  day date not null,
  id text not null,
  merchant_id text not null,
  order_id text not null,
  type text not null,
  occurred_at timestamptz not null,
  sequence text not null,
  -- Of the recorded event. A sample has none.
  hash text,
  body text not null,
  -- Samples are stored as events are, and no replay has them.
  is_test boolean not null default false,
  primary key (id, day)
) partition by range (day);
-- Compressing costs more than it saves here: bodies are read back within seconds, and live for weeks.
alter table events alter column body set storage external;
create index events_order on events (order_id);

-- One event for one webhook: `pending`, `delivered` or `failed`. Nothing that changes is indexed, so an update stays on its page.
create table deliveries (
  day date not null,
  event_id text not null,
  webhook_id text not null,
  id text not null,
  event_type text not null,
  status text not null default 'pending',
  attempts int not null default 0,
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz,
  -- The HTTP status of the last attempt; null if it had no answer.
  last_status_code int,
  primary key (event_id, webhook_id, day)
) partition by range (day);
create index deliveries_webhook on deliveries (webhook_id, id);

create table attempts (
  day date not null,
  delivery_id text not null,
  number int not null,
  started_at timestamptz not null,
  duration_ms int not null,
  outcome text not null,
  status_code int,
  error text,
  response text,
  primary key (delivery_id, started_at, day)
) partition by range (day);

-- The role of the dispatcher may not change tables. It creates and drops partitions of days with the rights of the owner of these functions.
create function create_partition(parent text, wanted_day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- Deliveries are updated once or twice: free space on each page keeps the new row version on the same page. Bodies up to the size of a
  -- page are stored in the row.
  settings constant text := case parent
    when 'events' then 'toast_tuple_target = 8160' when 'deliveries' then 'fillfactor = 70' when 'attempts' then 'fillfactor = 100' end;
  name constant text := format('webhooks.%I', parent || '_' || to_char(wanted_day, 'YYYYMMDD'));
  statement text;
begin
  if settings is null or wanted_day is null then
    raise exception 'webhooks.% has no partitions of days', parent;
  end if;
  if to_regclass(name) is not null then
    return;
  end if;
  execute format('create table %s partition of webhooks.%I for values from (%L) to (%L) with (%s)',
    name, parent, wanted_day, wanted_day + 1, settings);
  -- Statements also name partitions.
  for statement in
    select format('grant %s on %s to %s', privilege_type, name, grantee::regrole)
    from pg_class, aclexplode(relacl) where pg_class.oid = format('webhooks.%I', parent)::regclass and grantee not in (0, relowner)
  loop
    execute statement;
  end loop;
end $$;

create function drop_partition(parent text, wanted_day date) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if parent not in ('events', 'deliveries', 'attempts') or wanted_day is null then
    raise exception 'webhooks.% has no partitions of days', parent;
  end if;
  execute format('drop table if exists webhooks.%I', parent || '_' || to_char(wanted_day, 'YYYYMMDD'));
end $$;

revoke execute on function create_partition, drop_partition from public;

-- Work and who does it.

-- One row per pending delivery, gone when it ends. `leased_by` is the instance that holds it in memory; `position` is the order in which
-- events were ingested.
create table queue (
  position bigint generated always as identity primary key,
  day date not null,
  event_id text not null,
  webhook_id text not null,
  delivery_id text not null,
  order_id text not null,
  bytes int not null,
  attempts int not null default 0,
  -- Attempts made before the delivery was queued anew, by a redelivery or a replay; null when it never was.
  attempts_before int,
  is_test boolean not null default false,
  due_at timestamptz not null,
  leased_by text
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index queue_due on queue (webhook_id, due_at, position) where leased_by is null;
create index queue_leased on queue (leased_by) where leased_by is not null;
-- With `attempts`, an ingest finds first attempts without reading the retries of the same order and webhook.
create index queue_lane on queue (order_id, webhook_id, attempts, position);

-- Instances that are alive. One that does not renew in time has lost its leases.
create table instances (
  id text primary key,
  expires_at timestamptz not null
);

-- Webhooks of which every attempt failed since then. One that recovered is failing since infinity.
create table failing (
  webhook_id text primary key,
  since timestamptz not null,
  -- How many attempts failed since then, and when the last one did.
  attempts bigint not null default 0,
  last_at timestamptz not null default '-infinity',
  -- How long a dispatcher has run since the first of the failures: an outage of all dispatchers is no time in which a webhook fails.
  failed_ms bigint not null default 0,
  -- The webhook's `updated_at` as of the last count: the time begins anew when it differs.
  changed_at timestamptz
);

-- Orders that were deleted: events that arrive about them later, from the other topic or from a replay, are not delivered.
create table forgotten_orders (
  order_id text primary key,
  forgotten_at timestamptz not null
);

-- Ranges of events that are queued once more, an order after the other. The events come from orders and payments.
create table replays (
  id text primary key,
  webhook_id text not null,
  merchant_id text not null,
  from_at timestamptz not null,
  to_at timestamptz not null,
  event_types text[] not null,
  -- How many events were queued.
  events int not null default 0,
  -- The last order of which all is queued; and of the one after it, the cursor up to which it is queued.
  reached_order text,
  order_id text,
  order_place text,
  -- Orders whose events could not be read: they are tried again after all others.
  deferred text[] not null default '{}',
  -- The instance that works on it, and when the next try is due.
  leased_by text,
  failures int not null default 0,
  retry_at timestamptz not null default 'epoch',
  created_at timestamptz not null,
  -- Replays alternate by this.
  stepped_at timestamptz not null,
  finished_at timestamptz,
  -- When the merchant canceled the replay, or deleted its webhook.
  canceled_at timestamptz
);
create unique index replays_running on replays (webhook_id) where finished_at is null;
create index replays_turn on replays (stepped_at) where finished_at is null;
create index replays_newest on replays (webhook_id, created_at, id);

-- Ingests: each event and delivery once.

-- Serializes ingests of the same orders until the transaction ends: the order in which they commit is the order in which events are
-- delivered.
create function lock_orders(order_ids text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(key) from (
    select distinct hashtextextended(order_id, 4003) as key from unnest(order_ids) as order_id order by key
  ) as keys;
end $$;

-- Stores events and their deliveries in one statement: columns of the events, then of the deliveries in the order of delivery. A row of the
-- queue is born leased to `holder`, unless another instance has the first attempt of an earlier event of the same order and webhook. Rows
-- that exist, and those of forgotten orders, are not returned. It rejects the rows of merchants whose webhooks are not of their version any
-- more, and returns one row with `outdated_merchant` for each of these.
-- The plan is cached once, and has no joins: a condition that uses an index now also uses it when a table has a million rows.
create function ingest(
  days date[], ids text[], merchant_ids text[], order_ids text[], types text[], times timestamptz[], sequences text[], hashes text[],
  bodies text[], tests bool[],
  delivery_days date[], event_ids text[], webhook_ids text[], delivery_ids text[], event_types text[], delivery_orders text[], sizes int[],
  delivery_tests bool[], leases bool[], delivery_merchants text[],
  ingested_at timestamptz, holder text, merchants text[], versions text[]
) returns table (id text, "position" bigint, leased bool, outdated_merchant text)
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  outdated text[];
begin
  perform webhooks.lock_orders(order_ids);
  select coalesce(array_agg(known.merchant_id), '{}') into outdated from unnest(merchants, versions) as known (merchant_id, version)
  where known.version <> (
    select coalesce(string_agg(w.id || ' ' || w.version, ',' order by w.id collate "C"), '')
    from gateway.webhook_endpoints w where w.merchant_id = known.merchant_id
  );
  return query select null::text, null::bigint, null::bool, merchant_id from unnest(outdated) as merchant_id;
  return query
  with stored as (
    insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, hash, body, is_test)
    select * from unnest(days, ids, merchant_ids, order_ids, types, times, sequences, hashes, bodies, tests)
      as e (day, id, merchant_id, order_id, type, occurred_at, sequence, hash, body, is_test)
    where e.merchant_id <> all (outdated)
      and (select f.order_id from webhooks.forgotten_orders f where f.order_id = e.order_id) is null
    on conflict do nothing
  ), addressed as (
    select * from unnest(delivery_days, event_ids, webhook_ids, delivery_ids, event_types, delivery_orders, sizes, delivery_tests, leases,
        delivery_merchants)
      with ordinality as a (day, event_id, webhook_id, id, event_type, order_id, bytes, is_test, lease, merchant_id, turn)
    where merchant_id <> all (outdated)
  ), fresh as (
    insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, next_attempt_at, created_at)
    select day, event_id, webhook_id, id, event_type, ingested_at, ingested_at from addressed a
    where (select f.order_id from webhooks.forgotten_orders f where f.order_id = a.order_id) is null
    on conflict do nothing
    returning id
  )
  insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, is_test, due_at, leased_by)
  select a.day, a.event_id, a.webhook_id, a.id, a.order_id, a.bytes, a.is_test, ingested_at,
    case when a.lease and (
      select earlier.position from webhooks.queue earlier
      where earlier.order_id = a.order_id and earlier.webhook_id = a.webhook_id and earlier.attempts = 0
        and earlier.leased_by is distinct from holder
      limit 1
    ) is null then holder end
  from addressed a where a.id = any (array(select fresh.id from fresh)) order by a.turn
  returning delivery_id, position, leased_by is not null, null::text;
end $$;

-- The exact number of deliveries of a webhook, by status, HTTP status of the last attempt and type of event, for spans of 1 minute, 2 hours and 1 day. Totals and pages of
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
  -- The HTTP status of the last attempt; 0 for no answer.
  code int not null default 0,
  n int not null,
  primary key (webhook_id, span, status, start, event_type, day, code)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- What changed since the spans were updated: `n` deliveries got the status `became` and the HTTP status `became_code`. A change is one more row, so concurrent statements
-- never wait for each other. An instance moves them to the spans every second; until then readers add them.
create table delivery_count_changes (
  webhook_id text not null,
  id text not null,
  event_type text not null,
  day date not null,
  was text,
  became text,
  was_code int not null default 0,
  became_code int not null default 0,
  n int not null default 1
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0);
create index delivery_count_changes_webhook on delivery_count_changes (webhook_id);

-- Days whose deliveries are counted again, in the background. Operators insert them (ADR 16).
create table uncounted_days (day date primary key);

create function count_delivery() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    insert into webhooks.delivery_count_changes values (old.webhook_id, old.id, old.event_type, old.day, old.status, null, coalesce(old.last_status_code, 0));
  else
    insert into webhooks.delivery_count_changes values (new.webhook_id, new.id, new.event_type, new.day, old.status, new.status,
      coalesce(old.last_status_code, 0), coalesce(new.last_status_code, 0));
  end if;
  return null;
end $$;

-- Triggers for rows also exist on each partition, whichever version of the service creates it.
create trigger count_inserted after insert on deliveries for each row execute function count_delivery();
create trigger count_updated after update on deliveries for each row
  when (old.status <> new.status or old.last_status_code is distinct from new.last_status_code) execute function count_delivery();
create trigger count_removed after delete on deliveries for each row execute function count_delivery();

-- Adds the difference between the deliveries of a day and their counts to the changes, and returns how many rows that takes. One
-- statement, so one snapshot: it waits for nobody, and changes nothing when the counts are right.
create function correct_delivery_counts(wanted_day date) returns bigint language sql as $$
  with difference as (
    insert into webhooks.delivery_count_changes (webhook_id, id, event_type, day, became, became_code, n)
    select webhook_id, webhooks.first_delivery_id(minute * 60000), event_type, wanted_day, status, code, sum(n) from (
      select webhook_id, webhooks.minute_of_delivery(id) as minute, event_type, status, coalesce(last_status_code, 0) as code, 1 as n
      from webhooks.deliveries where day = wanted_day
      union all
      select webhook_id, start, event_type, status, code, -n from webhooks.delivery_count_spans where day = wanted_day and span = 1
      union all
      select webhook_id, webhooks.minute_of_delivery(id), event_type, became, became_code, -n
      from webhooks.delivery_count_changes where day = wanted_day
      union all
      select webhook_id, webhooks.minute_of_delivery(id), event_type, was, was_code, n
      from webhooks.delivery_count_changes where day = wanted_day
    ) as counted where status is not null group by webhook_id, minute, event_type, status, code having sum(n) <> 0
    returning 1
  )
  select count(*) from difference
$$;

-- Moves changes to the spans, at most `most` of them, and returns how many. Callers wait for each other. It adds changes of the same minute
-- first: to find the minute of a change costs more than all else.
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
    ), minutes as (
      select webhook_id, webhooks.minute_of_delivery(id) as minute, event_type, day, was, became, was_code, became_code, sum(n) as n
      from change group by 1, 2, 3, 4, 5, 6, 7, 8
    )
    insert into webhooks.delivery_count_spans as counted (webhook_id, span, status, start, event_type, day, code, n)
    select webhook_id, span, status, minute - minute % span, event_type, day, code, sum(change) from minutes
      cross join lateral (values (was, was_code, -n), (became, became_code, n)) as statuses (status, code, change)
      cross join (values (1), (120), (1440)) as spans (span)
    where status is not null
    group by 1, 2, 3, 4, 5, 6, 7 having sum(change) <> 0
    on conflict (webhook_id, span, status, start, event_type, day, code) do update set n = counted.n + excluded.n
    returning *
  loop
    -- Lists of few deliveries, like the failed ones, find them faster without empty spans.
    if counts.n = 0 then
      delete from webhooks.delivery_count_spans c where (c.webhook_id, c.span, c.status, c.start, c.event_type, c.day, c.code)
        = (counts.webhook_id, counts.span, counts.status, counts.start, counts.event_type, counts.day, counts.code);
    end if;
  end loop;
  return cardinality(changes);
end $$;

-- The number of matching deliveries with a smaller id: whole spans, changes, and rows of the last minute. All of them without an id.
-- `changed_numbers` are the changes of the matching deliveries, by minute and partition.
create function delivery_rank(
  wanted_webhooks text[], wanted_type text, statuses text[], wanted_code int, changed_minutes bigint[], changed_days date[], changed_numbers bigint[], before_id text
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
    select event_type, code, n from webhooks.delivery_count_spans
    where webhook_id = any (wanted_webhooks) and span = 1440 and status = any (statuses) and start < whole_day
    union all
    select event_type, code, n from webhooks.delivery_count_spans
    where webhook_id = any (wanted_webhooks) and span = 120 and status = any (statuses) and start >= whole_day and start < hour
    union all
    select event_type, code, n from webhooks.delivery_count_spans
    where webhook_id = any (wanted_webhooks) and span = 1 and status = any (statuses) and start >= hour and start < minute
    union all
    select wanted_type, wanted_code, changed.n from unnest(changed_minutes, changed_numbers) as changed (in_minute, n) where changed.in_minute < minute
  ) as counted where (wanted_type is null or event_type = wanted_type) and (wanted_code is null or code = wanted_code);
  if before_id is null then
    return coalesce(in_spans, 0);
  end if;
  select array_agg(distinct day) into days from (
    select day from webhooks.delivery_count_spans
    where webhook_id = any (wanted_webhooks) and span = 1 and status = any (statuses) and start = minute
    union all
    select changed.day from unnest(changed_minutes, changed_days) as changed (in_minute, day) where changed.in_minute = minute
  ) as counted;
  if days is not null then
    -- Planned with the days as constants, so that it opens their partitions alone.
    execute 'select count(*) from webhooks.deliveries where day = any ($1) and webhook_id = any ($2) and id >= $3 and id < $4
        and ($5 is null or event_type = $5) and status = any ($6) and ($7 is null or last_status_code = $7)'
      into in_minute using days, wanted_webhooks, webhooks.first_delivery_id(minute * 60000), before_id, wanted_type, statuses, wanted_code;
  end if;
  return coalesce(in_spans, 0) + in_minute;
end $$;

-- A page of the deliveries of these webhooks with ids from `from_id` until before `to_id`, in one snapshot. `total` is the number of all of these; the page
-- also starts after `after_id`. Without deliveries on the page, one row has the total alone.
create function list_deliveries(
  wanted_webhooks text[], wanted_type text, wanted_statuses text[], wanted_code int, from_id text, to_id text, after_id text, ascending bool, skipped int, size int
) returns table (total bigint, delivery webhooks.deliveries)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  statuses constant text[] := coalesce(wanted_statuses, '{pending,delivered,failed}');
  changed_minutes bigint[];
  changed_days date[];
  changed_numbers bigint[];
  lower_rank bigint := 0;
  upper_rank bigint;
  first_rank bigint;
  last_rank bigint;
  minutes bigint[];
  webhooks_of_page text[];
  days date[];
  from_ids text[];
  to_ids text[];
  rank_of_minutes bigint;
begin
  select array_agg(minute), array_agg(day), array_agg(n) into changed_minutes, changed_days, changed_numbers from (
    select webhooks.minute_of_delivery(id) as minute, day,
      sum(case when became = any (statuses) and (wanted_code is null or became_code = wanted_code) then n else 0 end
        - case when was = any (statuses) and (wanted_code is null or was_code = wanted_code) then n else 0 end) as n
    from webhooks.delivery_count_changes
    where webhook_id = any (wanted_webhooks) and (wanted_type is null or event_type = wanted_type) group by 1, 2
  ) as changed where n <> 0;
  upper_rank := webhooks.delivery_rank(wanted_webhooks, wanted_type, statuses, wanted_code, changed_minutes, changed_days, changed_numbers, to_id);
  if from_id is not null then
    lower_rank := webhooks.delivery_rank(wanted_webhooks, wanted_type, statuses, wanted_code, changed_minutes, changed_days, changed_numbers, from_id);
  end if;
  total := greatest(upper_rank - lower_rank, 0);
  if after_id is not null and ascending then
    lower_rank := greatest(lower_rank,
      webhooks.delivery_rank(wanted_webhooks, wanted_type, statuses, wanted_code, changed_minutes, changed_days, changed_numbers, after_id || '0'));
  elsif after_id is not null then
    upper_rank := least(upper_rank,
      webhooks.delivery_rank(wanted_webhooks, wanted_type, statuses, wanted_code, changed_minutes, changed_days, changed_numbers, after_id));
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
          select start, event_type, code, n from webhooks.delivery_count_spans
          where webhook_id = any (wanted_webhooks) and span = 1440 and status = any (statuses)
          union all
          select changed.minute / 1440 * 1440, wanted_type, wanted_code, changed.n from unnest(changed_minutes, changed_numbers) as changed (minute, n)
        ) as counted where (wanted_type is null or event_type = wanted_type) and (wanted_code is null or code = wanted_code) group by start
      ) as spans
    ) as ranked where up_to > first_rank and up_to - n < last_rank
  ), hours as materialized (
    select start, up_to - n as before from (
      select start, n, before + sum(n) over (partition by before order by start)::bigint as up_to from (
        select before, counted.start, sum(n)::bigint as n from whole_days cross join lateral (
          select start, event_type, code, n from webhooks.delivery_count_spans
          where webhook_id = any (wanted_webhooks) and span = 120 and status = any (statuses)
            and start >= whole_days.start and start < whole_days.start + 1440
          union all
          select changed.minute / 120 * 120, wanted_type, wanted_code, changed.n from unnest(changed_minutes, changed_numbers) as changed (minute, n)
          where changed.minute >= whole_days.start and changed.minute < whole_days.start + 1440
        ) as counted where (wanted_type is null or event_type = wanted_type) and (wanted_code is null or code = wanted_code)
        group by before, counted.start
      ) as spans
    ) as ranked where up_to > first_rank and up_to - n < last_rank
  ), minutes_of_page as materialized (
    select start, up_to - n as before from (
      select start, n, before + sum(n) over (partition by before order by start)::bigint as up_to from (
        select before, counted.start, sum(n)::bigint as n from hours cross join lateral (
          select start, event_type, code, n from webhooks.delivery_count_spans
          where webhook_id = any (wanted_webhooks) and span = 1 and status = any (statuses) and start >= hours.start and start < hours.start + 120
          union all
          select changed.minute, wanted_type, wanted_code, changed.n from unnest(changed_minutes, changed_numbers) as changed (minute, n)
          where changed.minute >= hours.start and changed.minute < hours.start + 120
        ) as counted where (wanted_type is null or event_type = wanted_type) and (wanted_code is null or code = wanted_code)
        group by before, counted.start
      ) as spans
    ) as ranked where up_to > first_rank and up_to - n < last_rank
  )
  select array_agg(start), min(before) into minutes, rank_of_minutes from minutes_of_page;
  select array_agg(webhook_id), array_agg(day), array_agg(webhooks.first_delivery_id(start * 60000)),
      array_agg(webhooks.first_delivery_id(start * 60000 + 60000))
    into webhooks_of_page, days, from_ids, to_ids from (
      select webhook_id, start, day from webhooks.delivery_count_spans
      where webhook_id = any (wanted_webhooks) and span = 1 and status = any (statuses) and start = any (minutes)
        and (wanted_type is null or event_type = wanted_type) and (wanted_code is null or code = wanted_code)
      union
      select webhook_id, webhooks.minute_of_delivery(id), day from webhooks.delivery_count_changes
      where webhook_id = any (wanted_webhooks) and webhooks.minute_of_delivery(id) = any (minutes)
    ) as cell;
  -- Planned with the days as constants, so that it opens their partitions alone. It reads each minute by the index.
  return query execute format(
    'select $1, page from (
       select page from unnest($2, $3, $4, $5) as cell (webhook_id, day, from_id, to_id) cross join lateral (
         select d from webhooks.deliveries d where d.day = any ($6) and d.day = cell.day and d.webhook_id = cell.webhook_id
           and d.id >= cell.from_id and d.id < cell.to_id and ($7 is null or d.event_type = $7) and d.status = any ($8)
           and ($9 is null or d.last_status_code = $9)
         order by d.id limit $10 + $11
       ) as matching (page) order by (page).id limit $10 offset $11
     ) as listed order by (page).id %s', case when ascending then 'asc' else 'desc' end)
    using total, webhooks_of_page, days, from_ids, to_ids, array(select distinct unnest(days)), wanted_type, statuses, wanted_code,
      last_rank - first_rank, first_rank - rank_of_minutes;
end $$;

revoke execute on function list_deliveries from public;

-- Published: the gateway is granted these views, `list_deliveries` and `minute_of_delivery`, and no table.

-- The body is null once it is deleted.
create view api_deliveries as
  select d.id, d.day, d.webhook_id, d.event_id, d.event_type, d.status, d.attempts, d.next_attempt_at, d.updated_at, d.last_status_code, e.body
  from deliveries as d left join events as e on e.id = d.event_id and e.day = d.day;
-- Of the events of an order and its payments, by an index.
create view api_order_deliveries as
  select e.order_id, d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempts, d.next_attempt_at, d.updated_at, d.last_status_code
  from events as e join deliveries as d on d.event_id = e.id and d.day = e.day;
create view api_attempts as
  select delivery_id, day, number, started_at, duration_ms, outcome, status_code, error, response from attempts;
-- How many deliveries of a webhook have a status, by the day of their creation: `start` is its first minute since 1970, in UTC. The rows of a day add up.
create view api_delivery_counts as
  select webhook_id, status, start, n from delivery_count_spans where span = 1440
  union all
  select webhook_id, statuses.status, minute_of_delivery(id) / 1440 * 1440, statuses.n
  from delivery_count_changes as changed cross join lateral (values (was, -changed.n), (became, changed.n)) as statuses (status, n)
  where statuses.status is not null;
create view api_replays as
  select id, webhook_id, from_at, to_at, event_types, events, deferred, reached_order, created_at, finished_at, canceled_at from replays;
