-- An ingest of Kafka messages commits without waiting for the disk: its messages are consumed again if a crash of PostgreSQL loses it.
-- The number of such ingests of an instance is in its row, so an instance notices a lost one.
alter table instances add column ingests bigint not null default 0;

-- Like `ingest`, as the ingest number `number` of `holder`. Fails with the error WD001 unless `accepted` has the number of the last one.
create function ingest_unflushed(
  days date[], ids text[], merchant_ids text[], order_ids text[], types text[], times timestamptz[], sequences text[], bodies text[],
  tests bool[],
  delivery_days date[], event_ids text[], webhook_ids text[], delivery_ids text[], event_types text[], delivery_orders text[], sizes int[],
  delivery_tests bool[], leases bool[], delivery_merchants text[],
  ingested_at timestamptz, holder text, merchants text[], versions text[], number bigint, accepted bigint[]
) returns table (id text, "position" bigint, leased bool, outdated_merchant text)
language plpgsql as $$
#variable_conflict use_column
begin
  perform set_config('synchronous_commit', 'off', true);
  update webhooks.instances i set ingests = number where i.id = holder and i.ingests = any (accepted);
  if not found then
    raise exception 'the last ingest of % is not stored', holder using errcode = 'WD001';
  end if;
  return query select * from webhooks.ingest(days, ids, merchant_ids, order_ids, types, times, sequences, bodies, tests, delivery_days,
    event_ids, webhook_ids, delivery_ids, event_types, delivery_orders, sizes, delivery_tests, leases, delivery_merchants, ingested_at,
    holder, merchants, versions);
end $$;
