-- Derivation indexes are reserved on streams of the event store from here on. `deposit_accounts` stays as it is, so that the first
-- reservation of a stream begins after it. Instances of earlier versions are refused until they are replaced.
create function refuse_reservation() returns trigger language plpgsql as $$
begin
  raise exception 'a newer version reserves deposit addresses in the event store' using errcode = '57P03';
end $$;
create trigger deposit_accounts_ended before insert or update on deposit_accounts execute function refuse_reservation();
