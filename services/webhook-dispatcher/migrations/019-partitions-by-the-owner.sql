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
