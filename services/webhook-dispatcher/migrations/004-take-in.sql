-- Events come in by the thousand a second and mostly one at a time: taking them in is one statement, in one round trip, planned once.

-- Takes turns with whoever takes in events of the same orders, until the transaction ends: the order in which they commit is the order
-- in which they are told.
create function lock_orders(order_ids text[]) returns void language plpgsql as $$
begin
  perform pg_advisory_xact_lock(key) from (
    select distinct hashtextextended(order_id, 4003) as key from unnest(order_ids) as order_id order by key
  ) as keys;
end $$;

-- Stores events and their deliveries, each one once: columns of the events, then of the deliveries in the order in which they are told. A
-- row is born leased to `holder`, unless the first attempt of an earlier event of its lane is in other hands. What was there already, and
-- what belongs to a forgotten order, is not returned. When the webhooks of one of `merchants` are not of its version any more, nothing is
-- stored, and one row without an id says so. What was committed while it waited for its locks is seen: that takes a statement of its own
-- behind them. It is planned once, and so has no joins: what is looked up by an index now is looked up by it when there are a million rows.
create function take_in(
  days date[], ids text[], merchant_ids text[], order_ids text[], types text[], times timestamptz[], sequences text[], bodies text[],
  tests bool[],
  delivery_days date[], event_ids text[], webhook_ids text[], delivery_ids text[], event_types text[], lanes text[], sizes int[],
  delivery_tests bool[], leases bool[],
  taken_at timestamptz, holder text, merchants text[], versions text[]
) returns table (id text, "position" bigint, leased bool) language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  perform webhooks.lock_orders(order_ids);
  if exists (
    select from unnest(merchants, versions) as known (merchant_id, version)
    where version <> (
      select coalesce(string_agg(w.id || ' ' || w.xmin, ',' order by w.id collate "C"), '')
      from gateway.webhooks w where w.merchant_id = known.merchant_id and w.deleted_at is null
    )
  ) then
    return query select null::text, null::bigint, null::bool;
    return;
  end if;
  return query
  with stored as (
    insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body, is_test)
    select * from unnest(days, ids, merchant_ids, order_ids, types, times, sequences, bodies, tests)
      as e (day, id, merchant_id, order_id, type, occurred_at, sequence, body, is_test)
    where (select f.order_id from webhooks.forgotten_orders f where f.order_id = e.order_id) is null
    on conflict do nothing
  ), addressed as (
    select * from unnest(delivery_days, event_ids, webhook_ids, delivery_ids, event_types, lanes, sizes, delivery_tests, leases)
      with ordinality as a (day, event_id, webhook_id, id, event_type, order_id, bytes, is_test, lease, turn)
  ), fresh as (
    insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, next_attempt_at, created_at)
    select day, event_id, webhook_id, id, event_type, taken_at, taken_at from addressed a
    where (select f.order_id from webhooks.forgotten_orders f where f.order_id = a.order_id) is null
    on conflict do nothing
    returning id
  )
  insert into webhooks.queue (day, event_id, webhook_id, delivery_id, order_id, bytes, is_test, due_at, leased_by)
  select a.day, a.event_id, a.webhook_id, a.id, a.order_id, a.bytes, a.is_test, taken_at,
    case when a.lease and (
      select earlier.position from webhooks.queue earlier
      where earlier.order_id = a.order_id and earlier.webhook_id = a.webhook_id and earlier.attempts = 0
        and earlier.leased_by is distinct from holder
      limit 1
    ) is null then holder end
  from addressed a where a.id = any (array(select fresh.id from fresh)) order by a.turn
  returning delivery_id, position, leased_by is not null;
end $$;
