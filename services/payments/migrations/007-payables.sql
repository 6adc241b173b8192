-- What may be paid where: one row per order and network or provider. A read model, built from the events of orders. The row of
-- a deleted order keeps where the order could be paid, and loses what it was for.
create table payables (
  -- The order, then its network or its provider.
  id text collate "C" primary key,
  order_id text not null,
  merchant_id text not null,
  rail text not null,
  currency text,
  asset text,
  network text,
  address text,
  -- The fingerprint of the account whose key at `index` has the address.
  account text,
  index bigint,
  provider text,
  reference text,
  assigned_at timestamptz,
  deleted boolean not null default false
);
create index payables_by_address on payables (address) where address is not null;
create index payables_by_reference on payables (reference) where reference is not null;

-- Derivation indexes that are reserved and that no order shows. A read model, built from the events of accounts and orders.
create table reserved_indexes (
  -- The account, then the index.
  id text primary key,
  account text not null,
  index bigint not null,
  -- The event on the stream of the account that reserved it last.
  revision bigint not null
);
create index reserved_indexes_lowest on reserved_indexes (account, index);

-- From here on `deposit_addresses` and `payment_references` keep what was handed out and has no event: rows of earlier versions,
-- and of orders whose deletion record does not name them.
alter table deposit_addresses drop constraint deposit_addresses_account_fkey;
