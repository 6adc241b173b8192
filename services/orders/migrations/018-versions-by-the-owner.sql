-- The role of the service may not comment on tables. It records which version of a projection fills a table with the rights of the owner
-- of this function. The comment stays with its table, so a rebuild replaces both at once.
do $migration$
begin
  execute replace($function$
    create function record_projection_version(projected text, version int) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
    begin
      execute format('comment on table {schema}.%I is %L', projected, 'projection version ' || version);
    end $$
  $function$, '{schema}', current_schema());
end $migration$;

revoke execute on function record_projection_version from public;
