-- Like `take_in`, which instances of the previous version still call, but rejects only the rows of merchants whose webhooks are not of
-- their version any more. It stores everything else, and returns one row with `outdated_merchant` for each of these merchants.
-- The plan is cached once, and has no joins: a condition that uses an index now also uses it when a table has a million rows.
create function ingest(
  days date[], ids text[], merchant_ids text[], order_ids text[], types text[], times timestamptz[], sequences text[], bodies text[],
  tests bool[],
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
    select coalesce(string_agg(w.id || ' ' || w.xmin, ',' order by w.id collate "C"), '')
    from gateway.webhooks w where w.merchant_id = known.merchant_id and w.deleted_at is null
  );
  return query select null::text, null::bigint, null::bool, merchant_id from unnest(outdated) as merchant_id;
  return query
  with stored as (
    insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body, is_test)
    select * from unnest(days, ids, merchant_ids, order_ids, types, times, sequences, bodies, tests)
      as e (day, id, merchant_id, order_id, type, occurred_at, sequence, body, is_test)
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
