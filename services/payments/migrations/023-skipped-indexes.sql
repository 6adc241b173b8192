-- Money arrived at the index before it was reserved, because a backup was restored: no order gets it.
alter table reserved_indexes add column skipped boolean not null default false;

-- The next index of each account. A read model, built from the events of accounts.
create table derivation_ends (
  -- The account.
  id text primary key,
  next bigint not null
);
