-- Addresses are looked up for each block from here on, instead of held in memory.

-- When the order ended; null while it takes payments. Addresses without money retire 90 days later.
alter table payables add column ended_at timestamptz;

-- Addresses of accounts that no order shows: of reserved indexes, and of indexes ahead that orders lost with a restored backup may have
-- shown. Derived again when they are lost.
create table unshown_addresses (
  address text collate "C" primary key,
  account text not null,
  index bigint not null
);
create index unshown_addresses_by_index on unshown_addresses (account, index);
