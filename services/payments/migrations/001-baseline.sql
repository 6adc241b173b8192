-- Payments and refunds: read models, built from the streams of payments.

-- `resource` is the payment exactly as the API shows it. Of a deleted payment only its id stays, so that a late event cannot bring it back.
create table payments (
  id text primary key,
  merchant_id text,
  order_id text,
  status text,
  currency text,
  payment_rail text,
  -- Whether something of it is to be given back.
  due_back boolean default false,
  created_at timestamptz,
  revision bigint not null,
  deleted boolean not null default false,
  resource json,
  tx_hash text,
  -- As `resource` shows them.
  applied_at timestamptz,
  refunded_at timestamptz,
  failed_at timestamptz,
  updated_at timestamptz
) with (
  -- Lists read recent rows from an index alone once they are vacuumed.
  autovacuum_vacuum_insert_scale_factor = 0.02
);
-- One index for each combination of filters: lists read their first rows, and skip rows in the index alone.
create index payments_newest on payments (merchant_id, created_at desc, id desc) where not deleted;
create index payments_by_status on payments (merchant_id, status, created_at, id) where not deleted;
create index payments_by_currency on payments (merchant_id, currency, created_at, id) where not deleted;
create index payments_by_rail on payments (merchant_id, payment_rail, created_at, id) where not deleted;
create index payments_by_status_and_currency on payments (merchant_id, status, currency, created_at, id) where not deleted;
create index payments_by_status_and_rail on payments (merchant_id, status, payment_rail, created_at, id) where not deleted;
create index payments_by_currency_and_rail on payments (merchant_id, currency, payment_rail, created_at, id) where not deleted;
create index payments_by_status_and_currency_and_rail on payments (merchant_id, status, currency, payment_rail, created_at, id) where not deleted;
-- Few payments are due back, so the other filters are checked in the same index.
create index payments_due_back on payments (merchant_id, created_at, id) include (status, currency, payment_rail) where due_back and not deleted;
create index payments_by_order on payments (order_id) where not deleted;
-- Lists of a range of these times count, and find few rows, in the index alone.
create index payments_by_application on payments (merchant_id, applied_at, created_at, id) where applied_at is not null and not deleted;
create index payments_by_refund on payments (merchant_id, refunded_at, created_at, id) where refunded_at is not null and not deleted;
create index payments_by_failure on payments (merchant_id, failed_at, created_at, id) where failed_at is not null and not deleted;
create index payments_by_update on payments (merchant_id, updated_at, created_at, id) where not deleted;
create index payments_by_transaction on payments (merchant_id, tx_hash) where not deleted and tx_hash is not null;

-- `resource` is the refund exactly as the API shows it. The projection of payments writes it.
create table refunds (
  id text primary key,
  payment_id text not null,
  merchant_id text not null,
  order_id text not null,
  currency text not null,
  created_at timestamptz not null,
  resource json not null,
  status text not null default 'recorded',
  amount_minor numeric,
  -- Decimals of the minor units.
  decimals int,
  -- The coin or token that the merchant sends, and on which network. Null unless the refund was requested.
  network text,
  asset text,
  -- The address of the payer, the merchant's addresses that may send, and the height of the chain: a transfer counts in a later block. Null before
  -- the refund has a destination.
  destination text,
  senders text[],
  after_height bigint,
  -- The transfer that is the refund.
  transfer_id text,
  -- SHA-256 of the token in its last claim link, and whether the payment page has the link too. Null without a link.
  claim_hash text,
  claim_on_page boolean,
  -- When it was recorded, settled or canceled.
  ended_at timestamptz
);
create index refunds_by_destination on refunds (destination) where destination is not null;
create unique index refunds_by_claim on refunds (claim_hash) where claim_hash is not null;
create index refunds_newest on refunds (merchant_id, created_at desc, id desc);
create index refunds_by_status on refunds (merchant_id, status, created_at, id);
create index refunds_by_currency on refunds (merchant_id, currency, created_at, id);
create index refunds_by_end on refunds (merchant_id, ended_at) where ended_at is not null;
create index refunds_by_payment on refunds (payment_id);
create index refunds_by_order on refunds (order_id);

-- The ledger: the lines of double-entry bookkeeping of all payments. The projection of payments writes it. Lines never change, but those of
-- a deleted payment lose their transaction.
create table postings (
  -- The payment, the number of the entry, and the number of the line in it.
  id text primary key,
  payment_id text not null,
  merchant_id text not null,
  order_id text not null,
  currency text not null,
  account text not null,
  -- Positive for money that enters the account.
  amount numeric not null,
  -- The type of the message of the event that moved the money.
  event text not null,
  refund_id text,
  tx_hash text,
  payment_created_at timestamptz not null,
  created_at timestamptz not null
);
create index postings_newest on postings (merchant_id, created_at desc, id desc);
-- Balances are summed in this index alone.
create index postings_by_account on postings (merchant_id, currency, account, created_at, id) include (amount);
create index postings_by_payment on postings (payment_id);
create index postings_by_order on postings (order_id);

-- The exact numbers of payments of each merchant by day, status, currency, rail and whether something is due back, and of refunds by day and currency, and those of all days
-- together (ADR 16).
create table payment_counts (
  merchant_id text not null,
  -- A day in UTC, or -infinity for all days.
  day date not null,
  status text not null,
  currency text not null,
  payment_rail text not null,
  due_back boolean not null,
  n int not null,
  primary key (merchant_id, day, status, currency, payment_rail, due_back)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create table refund_counts (
  merchant_id text not null,
  day date not null,
  currency text not null,
  n int not null,
  primary key (merchant_id, day, currency)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

-- Some payments or refunds of a merchant that are counted in the same rows.
create type counted_payments as (merchant_id text, day date, status text, currency text, payment_rail text, due_back boolean, n int);
create type counted_refunds as (merchant_id text, day date, currency text, n int);

create function count_payments() returns trigger language plpgsql set search_path from current as $$
declare
  changes counted_payments[] := '{}';
begin
  if tg_op <> 'DELETE' then
    changes := array(
      select (merchant_id, (created_at at time zone 'UTC')::date, status, currency, payment_rail, due_back, 1)::counted_payments from new_rows where not deleted);
  end if;
  if tg_op <> 'INSERT' then
    changes := changes || array(
      select (merchant_id, (created_at at time zone 'UTC')::date, status, currency, payment_rail, due_back, -1)::counted_payments from old_rows where not deleted);
  end if;
  changes := array(
    select (merchant_id, day, status, currency, payment_rail, due_back, sum(n))::counted_payments from unnest(changes)
    group by merchant_id, day, status, currency, payment_rail, due_back having sum(n) <> 0);
  if cardinality(changes) > 0 then
    -- One statement may run this for inserted and for updated rows. With this lock, no two of them wait for each other.
    perform pg_advisory_xact_lock(tg_relid::bigint);
    insert into payment_counts as counted
    select merchant_id, days.day, status, currency, payment_rail, due_back, sum(n)
    from unnest(changes) as changed cross join lateral (values (changed.day), ('-infinity')) as days (day)
    group by merchant_id, days.day, status, currency, payment_rail, due_back
    on conflict (merchant_id, day, status, currency, payment_rail, due_back) do update set n = counted.n + excluded.n;
  end if;
  return null;
end $$;

create function count_refunds() returns trigger language plpgsql set search_path from current as $$
declare
  changes counted_refunds[] := '{}';
begin
  if tg_op <> 'DELETE' then
    changes := array(
      select (merchant_id, (created_at at time zone 'UTC')::date, currency, 1)::counted_refunds from new_rows);
  end if;
  if tg_op <> 'INSERT' then
    changes := changes || array(
      select (merchant_id, (created_at at time zone 'UTC')::date, currency, -1)::counted_refunds from old_rows);
  end if;
  changes := array(
    select (merchant_id, day, currency, sum(n))::counted_refunds from unnest(changes)
    group by merchant_id, day, currency having sum(n) <> 0);
  if cardinality(changes) > 0 then
    -- One statement may run this for inserted and for updated rows. With this lock, no two of them wait for each other.
    perform pg_advisory_xact_lock(tg_relid::bigint);
    insert into refund_counts as counted
    select merchant_id, days.day, currency, sum(n)
    from unnest(changes) as changed cross join lateral (values (changed.day), ('-infinity')) as days (day)
    group by merchant_id, days.day, currency
    on conflict (merchant_id, day, currency) do update set n = counted.n + excluded.n;
  end if;
  return null;
end $$;

create trigger count_inserted after insert on payments referencing new table as new_rows
  for each statement execute function count_payments();
create trigger count_updated after update on payments referencing old table as old_rows new table as new_rows
  for each statement execute function count_payments();
create trigger count_deleted after delete on payments referencing old table as old_rows
  for each statement execute function count_payments();
create trigger count_inserted after insert on refunds referencing new table as new_rows
  for each statement execute function count_refunds();
create trigger count_updated after update on refunds referencing old table as old_rows new table as new_rows
  for each statement execute function count_refunds();
create trigger count_deleted after delete on refunds referencing old table as old_rows
  for each statement execute function count_refunds();

-- Published: other services are granted these views and those on chains below, and no table.

-- Deleted payments are among them, without `resource`.
create view api_payments as
  select id, merchant_id, order_id, status, currency, payment_rail, due_back, created_at, deleted, resource, tx_hash, applied_at, refunded_at, failed_at,
    updated_at
  from payments;
create view api_payment_counts as select merchant_id, day, status, currency, payment_rail, due_back, n from payment_counts;
-- `page_claim` names the claim link that the payment page shows: while the refund waits for an address of the payer.
create view api_refunds as
  select id, payment_id, merchant_id, order_id, currency, status, created_at, ended_at, resource,
    case when claim_on_page and status = 'pending' and destination is null then claim_hash end as page_claim
  from refunds;
create view api_postings as
  select id, payment_id, merchant_id, order_id, currency, account, amount, event, refund_id, tx_hash, payment_created_at, created_at
  from postings;
create view api_refund_counts as select merchant_id, day, currency, n from refund_counts;

-- Addresses and references: where an order can be paid.

-- One row per order and network or provider. A read model, built from the events of orders. The row of a deleted order keeps where the
-- order could be paid, and loses what it was for.
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
  -- Whether the address is behind a payment page.
  hosted boolean not null,
  assigned_at timestamptz,
  -- When the order ended; null while it takes payments. Addresses without money retire 90 days later.
  ended_at timestamptz,
  deleted boolean not null default false
);
create index payables_by_address on payables (address) where address is not null;
create index payables_by_reference on payables (reference) where reference is not null;
-- Finds the payables of accounts that the deposit settings do not know, for each block of a chain.
create index payables_by_account on payables (account) where account is not null;
-- For the queries of outside providers: the references of orders of an age.
create index payables_of_outside_providers on payables (assigned_at)
  where reference is not null and provider not in ('hosted', 'sandbox');

-- Published: which order an address or a reference is of.
create view api_payables as select order_id, merchant_id, address, reference from payables where not deleted;

-- Derivation indexes that are reserved and that no order shows. A read model, built from the events of accounts and orders.
create table reserved_indexes (
  -- The account, then the index.
  id text primary key,
  account text not null,
  index bigint not null,
  -- The event on the stream of the account that reserved it last.
  revision bigint not null,
  -- Money arrived at the index before it was reserved, because a backup was restored: no order gets it.
  skipped boolean not null default false
);
create index reserved_indexes_lowest on reserved_indexes (account, index);

-- The next index of each account. A read model, built from the events of accounts.
create table derivation_ends (
  -- The account.
  id text primary key,
  next bigint not null
);

-- Addresses of accounts that no order shows: of reserved indexes, and of indexes ahead that orders lost with a restored backup may have
-- shown. Derived again when they are lost.
create table unshown_addresses (
  address text collate "C" primary key,
  account text not null,
  index bigint not null
);
create index unshown_addresses_by_index on unshown_addresses (account, index);

-- Addresses and references that may have no event: of orders whose events a restored event store lacks, and of orders whose deletion
-- record does not name them. None of them is given out again, and money there is found for good.
create table deposit_addresses (
  order_id text not null,
  network text not null,
  rail text not null default 'crypto_deposit',
  account text not null,
  index bigint not null,
  address text not null unique,
  assigned_at timestamptz not null default now(),
  primary key (order_id, network, rail),
  unique (account, index)
);
create table payment_references (
  order_id text not null,
  provider text not null,
  reference text not null unique,
  assigned_at timestamptz not null default now(),
  primary key (order_id, provider)
);

-- Chains: what was read from them. The chain and the stream `chain-<network>` bring it back.

-- How far each network was read.
create table chain_cursors (
  network text primary key,
  -- Hash of block 0. Another one is another chain.
  genesis text,
  -- The last block that was read; null before reading began.
  height bigint,
  hash text,
  -- The time of the block; null for the block at which reading began.
  time timestamptz,
  -- When there was no further block, and everything up to then was read.
  read_at timestamptz,
  -- The highest block that the nodes had then.
  tip bigint,
  -- The height up to which blocks were read again, to find what the first reading missed; null before reading began.
  rechecked bigint,
  -- An operator's request: read again from this height.
  rescan_from bigint,
  -- Why reading stands still; null while it goes on.
  halted text,
  -- Why the chain is not current although its nodes answer; null while it is.
  stalled text,
  -- Why reading waits although the nodes answer: a store or a read model of this system is behind. Null while it does not.
  waiting text,
  -- What each node showed last, and when.
  nodes jsonb,
  -- How far the time of a new block may be behind and ahead of the clock; null for a chain whose blocks come on demand.
  block_lag_ms bigint,
  block_lead_ms bigint
);

-- The hashes of the blocks read last, to find where a reorganization began.
create table chain_blocks (
  network text not null references chain_cursors on delete cascade,
  height bigint not null,
  hash text not null,
  time timestamptz,
  -- The numbers of the nodes that showed the transfers of the block at its first reading.
  nodes int[] not null default '{}',
  primary key (network, height)
);

-- Transfers to watched addresses, and what was reported about them.
create table chain_transfers (
  network text not null,
  -- Position in the chain, the same in every block that contains the transaction.
  id text not null,
  tx_hash text,
  address text not null,
  -- The address that sent it, where the chain shows one.
  sender text,
  asset text not null,
  -- Units of the asset on its chain.
  units numeric not null,
  -- Confirmations that its chain asks for before it can be spent; and those that it needs, once known.
  min_confirmations int,
  required int,
  -- The outputs that its transaction spends.
  spends text[],
  seen_at timestamptz not null,

  -- The block that contains it; null for none.
  height bigint,
  hash text,
  -- Whether the last reading of its block showed it, how many readings in a row said so, and which nodes showed it or not.
  shown boolean not null default true,
  readings int not null default 1,
  shown_by int[] not null default '{}',
  missed_by int[] not null default '{}',
  -- The height that had been read when a reorganization removed it, and the block that contained it last, while none does.
  lost_at bigint,
  lost_hash text,
  -- Since when neither a block nor the mempool has it.
  vanished_at timestamptz,
  -- A block that spends one of its outputs otherwise, and the transaction that does, if it pays the same address.
  conflict_at bigint,
  replaced_by text,

  -- What its payment was told, and about which block; and what it is being told.
  reported text,
  reported_hash text,
  pending text,
  pending_hash text,
  -- The failed attempts to report it as a payment: all null while no report fails.
  attempts int,
  first_failed_at timestamptz,
  last_failed_at timestamptz,
  -- When the next attempt is due; null once the report is refused.
  retry_at timestamptz,
  failure text,

  -- Whether something is still to be reported. A transfer about which readings differ stays open, also when its payment is applied; so does
  -- one whose block left the chain: it fails, or is mined again.
  open boolean not null generated always as (
    pending is not null or (height is not null and not shown) or case reported
      when 'received' then true
      when 'confirmed' then height is null or hash is distinct from reported_hash
      when 'failed' then height is not null
      when 'ignored' then false
      when 'refused' then false
      else height is not null or vanished_at is null
    end
  ) stored,
  primary key (network, id)
);
create index chain_transfers_open on chain_transfers (network) where open;
create index chain_transfers_by_height on chain_transfers (network, height);
create index chain_transfers_by_lost_block on chain_transfers (network, lost_hash) where lost_hash is not null;
-- What an address received in all decides how many confirmations each part of it needs.
create index chain_transfers_by_address on chain_transfers (network, address);

-- The last rescan of each network, which goes beside the reading.
create table chain_rescans (
  network text primary key,
  from_height bigint not null,
  -- The last block to read again; null until the rescan begins.
  to_height bigint,
  next_height bigint not null,
  -- Whether missing transfers are added, or only shown.
  apply boolean not null,
  -- The first transfers that differ from what was read, and the number of all.
  findings jsonb not null default '[]',
  found bigint not null default 0,
  finished_at timestamptz
);

-- Published: how far each network was read, and the depth of transfers.
create view api_chains as select network, height from chain_cursors;
create view api_transfers as select network, id, required, height from chain_transfers;

-- Published: the times of the newest blocks, with which each service compares its clock. `time` is null until a node showed one. `lag_ms` and
-- `lead_ms` are how far it may be behind and ahead.
create view newest_blocks as
  select network, block_lag_ms::float8 as lag_ms, block_lead_ms::float8 as lead_ms, (
      select max((node ->> 'time')::timestamptz) from jsonb_array_elements(nodes) as node where (node ->> 'isUsed')::boolean
    ) as time
  from chain_cursors where block_lag_ms is not null and block_lead_ms is not null;

-- The comparison of the two books (ADR 37).

-- How far it has read the event store. One row.
create table books_check (
  only_row boolean primary key default true check (only_row),
  -- The last event that it read. Null at the start of the log.
  position jsonb,
  -- It is complete once it has read up to here.
  ends_at jsonb,
  completed_at timestamptz
);
insert into books_check default values;

-- What the comparison found. `looks`: how often in a row, about a minute apart.
create table books_differences (
  order_id text not null,
  payment_id text not null,
  kind text not null,
  description text not null,
  looks int not null default 1,
  looked_at timestamptz not null default now(),
  primary key (order_id, payment_id, kind)
);

-- Subscriptions to the event store.

create table checkpoints (
  name text primary key,
  -- The fencing token of the leader that moved it last.
  epoch bigint not null,
  commit_position numeric,
  prepare_position numeric,
  -- The identity of the event store, and the event at the position: they show whether the store still is the one that the checkpoint
  -- belongs to.
  store_id text,
  event_id text,
  event_stream text,
  -- Set while another number of shards (LOG_SHARDS) is in use. The row stays, because its name is that of a producer in Kafka which later
  -- leaders fence.
  retired_at timestamptz
);

-- Streams of which a subscription could not handle an event. The later events of the stream wait behind it; other streams
-- go on. The service tries again after each start and every five minutes, and deletes the row when it succeeds.
create table parked_streams (
  subscription text not null,
  stream text not null,
  -- The first event that waits.
  revision bigint not null,
  event_id text not null,
  event_type text not null,
  reason text not null,
  parked_at timestamptz not null default now(),
  tried_at timestamptz not null default now(),
  primary key (subscription, stream)
);

-- The version of each projection that built its live tables, by its first table. A rebuild writes it in the transaction that replaces them.
create table projection_versions (
  projection text primary key,
  version int not null
);
