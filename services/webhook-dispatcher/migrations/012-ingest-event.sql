-- Like `ingest`, for one event with one delivery, as most ingests are.
-- Starting and ending the statement that stores whole arrays takes longer than storing two rows.
-- With a `number`, it is like `ingest_unflushed`. Without a `version`, the webhooks are not compared.
create function ingest_event(
  day date, id text, merchant_id text, order_id text, type text, occurred_at timestamptz, sequence text, body text, is_test bool,
  webhook_id text, delivery_id text, bytes int, lease bool, ingested_at timestamptz, holder text, version text, number bigint, accepted bigint[]
) returns table (delivery text, "position" bigint, leased bool, outdated_merchant text)
language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_variable
declare
  current_version text;
  ignored text;
begin
  if number is not null then
    ignored := set_config('synchronous_commit', 'off', true);
    update webhooks.instances i set ingests = number where i.id = holder and i.ingests = any (accepted);
    if not found then
      raise exception 'the last ingest of % is not stored', holder using errcode = 'WD001';
    end if;
  end if;
  -- The lock that `lock_orders` takes.
  ignored := pg_advisory_xact_lock(hashtextextended(order_id, 4003))::text;
  if version is not null then
    select coalesce(string_agg(w.id || ' ' || w.xmin, ',' order by w.id collate "C"), '') into current_version
    from gateway.webhooks w where w.merchant_id = ingest_event.merchant_id and w.deleted_at is null;
    if version <> current_version then
      outdated_merchant := merchant_id;
      return next;
      return;
    end if;
  end if;
  perform from webhooks.forgotten_orders f where f.order_id = ingest_event.order_id;
  if found then
    return;
  end if;
  insert into webhooks.events (day, id, merchant_id, order_id, type, occurred_at, sequence, body, is_test)
  values (day, id, merchant_id, order_id, type, occurred_at, sequence, body, is_test) on conflict do nothing;
  insert into webhooks.deliveries (day, event_id, webhook_id, id, event_type, next_attempt_at, created_at)
  values (day, id, webhook_id, delivery_id, type, ingested_at, ingested_at) on conflict do nothing;
  if not found then
    return;
  end if;
  insert into webhooks.queue as q (day, event_id, webhook_id, delivery_id, order_id, bytes, is_test, due_at, leased_by)
  values (day, id, webhook_id, delivery_id, order_id, bytes, is_test, ingested_at, case when lease and (
    select earlier.position from webhooks.queue earlier
    where earlier.order_id = ingest_event.order_id and earlier.webhook_id = ingest_event.webhook_id and earlier.attempts = 0
      and earlier.leased_by is distinct from holder
    limit 1
  ) is null then holder end)
  returning q.position, q.leased_by is not null into position, leased;
  delivery := delivery_id;
  return next;
end $$;
