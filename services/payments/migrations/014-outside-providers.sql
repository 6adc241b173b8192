-- For the queries of outside providers: the references of orders of an age.
create index payables_of_outside_providers on payables (assigned_at)
  where reference is not null and provider not in ('hosted', 'sandbox');
