-- Two more spans, of 12 minutes and 28 hours. To find a time, at most 42 spans are read then instead of 204. The functions are those of
-- migration 008 otherwise.
do $do$
declare
  statement text;
  counting record;
begin
  for statement in
    select replace(replace(pg_get_functiondef(oid), proname || '(', proname || '_in_5_spans('),
      '(values (1), (120), (10080))', '(values (1), (12), (120), (1680), (10080))')
    from pg_proc where pronamespace = current_schema()::regnamespace and proname ~ '^count_[a-z]+_(payments|refunds)$'
  loop
    execute statement;
  end loop;

  -- Tables with rows keep their triggers until the rebuild of this version of the projection replaces them. Lists count their rows until
  -- then.
  lock table payments, refunds in share row exclusive mode;
  if exists (select from payments) then
    return;
  end if;
  for counting in
    select tgname as name, tgrelid::regclass as on_table, regexp_replace(pg_get_triggerdef(oid), '\(\)$', '_in_5_spans()') as definition
    from pg_trigger where tgrelid in ('payments'::regclass, 'refunds'::regclass) and tgname like 'count\_%'
  loop
    execute format('drop trigger %I on %s', counting.name, counting.on_table);
    execute counting.definition;
  end loop;
end $do$;
