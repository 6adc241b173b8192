-- What the migrations of payments make. "pnpm schema" writes this file: do not edit it.

create type counted_payments as (
  merchant_id text,
  day date,
  status text,
  currency text,
  payment_rail text,
  due_back boolean,
  n integer
);

create type counted_refunds as (
  merchant_id text,
  day date,
  currency text,
  n integer
);

create table books_check (
  only_row boolean not null default true,
  "position" jsonb,
  ends_at jsonb,
  completed_at timestamp with time zone,
  constraint books_check_pkey PRIMARY KEY (only_row),
  constraint books_check_only_row_check CHECK (only_row)
);

create table books_differences (
  order_id text not null,
  payment_id text not null,
  kind text not null,
  description text not null,
  looks integer not null default 1,
  looked_at timestamp with time zone not null default now(),
  constraint books_differences_pkey PRIMARY KEY (order_id, payment_id, kind)
);

create table chain_blocks (
  network text not null,
  height bigint not null,
  hash text not null,
  "time" timestamp with time zone,
  nodes integer[] not null default '{}'::integer[],
  constraint chain_blocks_pkey PRIMARY KEY (network, height),
  constraint chain_blocks_network_fkey FOREIGN KEY (network) REFERENCES chain_cursors(network) ON DELETE CASCADE
);

create table chain_cursors (
  network text not null,
  genesis text,
  height bigint,
  hash text,
  "time" timestamp with time zone,
  read_at timestamp with time zone,
  tip bigint,
  rechecked bigint,
  rescan_from bigint,
  halted text,
  stalled text,
  waiting text,
  nodes jsonb,
  block_lag_ms bigint,
  block_lead_ms bigint,
  constraint chain_cursors_pkey PRIMARY KEY (network)
);

create table chain_rescans (
  network text not null,
  from_height bigint not null,
  to_height bigint,
  next_height bigint not null,
  apply boolean not null,
  findings jsonb not null default '[]'::jsonb,
  found bigint not null default 0,
  finished_at timestamp with time zone,
  constraint chain_rescans_pkey PRIMARY KEY (network)
);

create table chain_transfers (
  network text not null,
  id text not null,
  tx_hash text,
  address text not null,
  sender text,
  asset text not null,
  units numeric not null,
  min_confirmations integer,
  required integer,
  spends text[],
  seen_at timestamp with time zone not null,
  height bigint,
  hash text,
  shown boolean not null default true,
  readings integer not null default 1,
  shown_by integer[] not null default '{}'::integer[],
  missed_by integer[] not null default '{}'::integer[],
  lost_at bigint,
  lost_hash text,
  vanished_at timestamp with time zone,
  conflict_at bigint,
  replaced_by text,
  reported text,
  reported_hash text,
  pending text,
  pending_hash text,
  attempts integer,
  first_failed_at timestamp with time zone,
  last_failed_at timestamp with time zone,
  retry_at timestamp with time zone,
  failure text,
  open boolean not null generated always as (((pending IS NOT NULL) OR ((height IS NOT NULL) AND (NOT shown)) OR
CASE reported
    WHEN 'received'::text THEN true
    WHEN 'confirmed'::text THEN ((height IS NULL) OR (hash IS DISTINCT FROM reported_hash))
    WHEN 'failed'::text THEN (height IS NOT NULL)
    WHEN 'ignored'::text THEN false
    WHEN 'refused'::text THEN false
    ELSE ((height IS NOT NULL) OR (vanished_at IS NULL))
END)) stored,
  constraint chain_transfers_pkey PRIMARY KEY (network, id)
);
CREATE INDEX chain_transfers_by_address ON payments.chain_transfers USING btree (network, address);
CREATE INDEX chain_transfers_by_height ON payments.chain_transfers USING btree (network, height);
CREATE INDEX chain_transfers_by_lost_block ON payments.chain_transfers USING btree (network, lost_hash) WHERE (lost_hash IS NOT NULL);
CREATE INDEX chain_transfers_open ON payments.chain_transfers USING btree (network) WHERE open;

create table checkpoints (
  name text not null,
  epoch bigint not null,
  commit_position numeric,
  prepare_position numeric,
  store_id text,
  event_id text,
  event_stream text,
  retired_at timestamp with time zone,
  constraint checkpoints_pkey PRIMARY KEY (name)
);

create table deposit_addresses (
  order_id text not null,
  network text not null,
  rail text not null default 'crypto_deposit'::text,
  account text not null,
  index bigint not null,
  address text not null,
  assigned_at timestamp with time zone not null default now(),
  constraint deposit_addresses_pkey PRIMARY KEY (order_id, network, rail),
  constraint deposit_addresses_account_index_key UNIQUE (account, index),
  constraint deposit_addresses_address_key UNIQUE (address)
);

create table derivation_ends (
  id text not null,
  next bigint not null,
  constraint derivation_ends_pkey PRIMARY KEY (id)
);

create table parked_streams (
  subscription text not null,
  stream text not null,
  revision bigint not null,
  event_id text not null,
  event_type text not null,
  reason text not null,
  parked_at timestamp with time zone not null default now(),
  tried_at timestamp with time zone not null default now(),
  constraint parked_streams_pkey PRIMARY KEY (subscription, stream)
);

create table payables (
  id text collate "C" not null,
  order_id text not null,
  merchant_id text not null,
  rail text not null,
  currency text,
  asset text,
  network text,
  address text,
  account text,
  index bigint,
  provider text,
  reference text,
  hosted boolean not null,
  assigned_at timestamp with time zone,
  ended_at timestamp with time zone,
  deleted boolean not null default false,
  constraint payables_pkey PRIMARY KEY (id)
);
CREATE INDEX payables_by_account ON payments.payables USING btree (account) WHERE (account IS NOT NULL);
CREATE INDEX payables_by_address ON payments.payables USING btree (address) WHERE (address IS NOT NULL);
CREATE INDEX payables_by_reference ON payments.payables USING btree (reference) WHERE (reference IS NOT NULL);
CREATE INDEX payables_of_outside_providers ON payments.payables USING btree (assigned_at) WHERE ((reference IS NOT NULL) AND (provider <> ALL (ARRAY['hosted'::text, 'sandbox'::text])));

create table payment_counts (
  merchant_id text not null,
  day date not null,
  status text not null,
  currency text not null,
  payment_rail text not null,
  due_back boolean not null,
  n integer not null,
  constraint payment_counts_pkey PRIMARY KEY (merchant_id, day, status, currency, payment_rail, due_back)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);

create table payment_references (
  order_id text not null,
  provider text not null,
  reference text not null,
  assigned_at timestamp with time zone not null default now(),
  constraint payment_references_pkey PRIMARY KEY (order_id, provider),
  constraint payment_references_reference_key UNIQUE (reference)
);

create table payments (
  id text not null,
  merchant_id text,
  order_id text,
  status text,
  currency text,
  payment_rail text,
  due_back boolean default false,
  created_at timestamp with time zone,
  revision bigint not null,
  deleted boolean not null default false,
  resource json,
  tx_hash text,
  applied_at timestamp with time zone,
  refunded_at timestamp with time zone,
  failed_at timestamp with time zone,
  updated_at timestamp with time zone,
  constraint payments_pkey PRIMARY KEY (id)
) with (autovacuum_vacuum_insert_scale_factor=0.02);
CREATE INDEX payments_by_application ON payments.payments USING btree (merchant_id, applied_at, created_at, id) WHERE ((applied_at IS NOT NULL) AND (NOT deleted));
CREATE INDEX payments_by_currency ON payments.payments USING btree (merchant_id, currency, created_at, id) WHERE (NOT deleted);
CREATE INDEX payments_by_currency_and_rail ON payments.payments USING btree (merchant_id, currency, payment_rail, created_at, id) WHERE (NOT deleted);
CREATE INDEX payments_by_failure ON payments.payments USING btree (merchant_id, failed_at, created_at, id) WHERE ((failed_at IS NOT NULL) AND (NOT deleted));
CREATE INDEX payments_by_order ON payments.payments USING btree (order_id) WHERE (NOT deleted);
CREATE INDEX payments_by_rail ON payments.payments USING btree (merchant_id, payment_rail, created_at, id) WHERE (NOT deleted);
CREATE INDEX payments_by_refund ON payments.payments USING btree (merchant_id, refunded_at, created_at, id) WHERE ((refunded_at IS NOT NULL) AND (NOT deleted));
CREATE INDEX payments_by_status ON payments.payments USING btree (merchant_id, status, created_at, id) WHERE (NOT deleted);
CREATE INDEX payments_by_status_and_currency ON payments.payments USING btree (merchant_id, status, currency, created_at, id) WHERE (NOT deleted);
CREATE INDEX payments_by_status_and_currency_and_rail ON payments.payments USING btree (merchant_id, status, currency, payment_rail, created_at, id) WHERE (NOT deleted);
CREATE INDEX payments_by_status_and_rail ON payments.payments USING btree (merchant_id, status, payment_rail, created_at, id) WHERE (NOT deleted);
CREATE INDEX payments_by_transaction ON payments.payments USING btree (merchant_id, tx_hash) WHERE ((NOT deleted) AND (tx_hash IS NOT NULL));
CREATE INDEX payments_by_update ON payments.payments USING btree (merchant_id, updated_at, created_at, id) WHERE (NOT deleted);
CREATE INDEX payments_due_back ON payments.payments USING btree (merchant_id, created_at, id) INCLUDE (status, currency, payment_rail) WHERE (due_back AND (NOT deleted));
CREATE INDEX payments_newest ON payments.payments USING btree (merchant_id, created_at DESC, id DESC) WHERE (NOT deleted);
CREATE TRIGGER count_deleted AFTER DELETE ON payments.payments REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_payments();
CREATE TRIGGER count_inserted AFTER INSERT ON payments.payments REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_payments();
CREATE TRIGGER count_updated AFTER UPDATE ON payments.payments REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_payments();

create table postings (
  id text not null,
  payment_id text not null,
  merchant_id text not null,
  order_id text not null,
  currency text not null,
  account text not null,
  amount numeric not null,
  event text not null,
  refund_id text,
  tx_hash text,
  payment_created_at timestamp with time zone not null,
  created_at timestamp with time zone not null,
  constraint postings_pkey PRIMARY KEY (id)
);
CREATE INDEX postings_by_account ON payments.postings USING btree (merchant_id, currency, account, created_at, id) INCLUDE (amount);
CREATE INDEX postings_by_order ON payments.postings USING btree (order_id);
CREATE INDEX postings_by_payment ON payments.postings USING btree (payment_id);
CREATE INDEX postings_newest ON payments.postings USING btree (merchant_id, created_at DESC, id DESC);

create table projection_versions (
  projection text not null,
  version integer not null,
  constraint projection_versions_pkey PRIMARY KEY (projection)
);

create table refund_counts (
  merchant_id text not null,
  day date not null,
  currency text not null,
  n integer not null,
  constraint refund_counts_pkey PRIMARY KEY (merchant_id, day, currency)
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);

create table refunds (
  id text not null,
  payment_id text not null,
  merchant_id text not null,
  order_id text not null,
  currency text not null,
  created_at timestamp with time zone not null,
  resource json not null,
  status text not null default 'recorded'::text,
  amount_minor numeric,
  decimals integer,
  network text,
  asset text,
  destination text,
  senders text[],
  after_height bigint,
  transfer_id text,
  claim_hash text,
  claim_on_page boolean,
  ended_at timestamp with time zone,
  constraint refunds_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX refunds_by_claim ON payments.refunds USING btree (claim_hash) WHERE (claim_hash IS NOT NULL);
CREATE INDEX refunds_by_currency ON payments.refunds USING btree (merchant_id, currency, created_at, id);
CREATE INDEX refunds_by_destination ON payments.refunds USING btree (destination) WHERE (destination IS NOT NULL);
CREATE INDEX refunds_by_end ON payments.refunds USING btree (merchant_id, ended_at) WHERE (ended_at IS NOT NULL);
CREATE INDEX refunds_by_order ON payments.refunds USING btree (order_id);
CREATE INDEX refunds_by_payment ON payments.refunds USING btree (payment_id);
CREATE INDEX refunds_by_status ON payments.refunds USING btree (merchant_id, status, created_at, id);
CREATE INDEX refunds_newest ON payments.refunds USING btree (merchant_id, created_at DESC, id DESC);
CREATE TRIGGER count_deleted AFTER DELETE ON payments.refunds REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION count_refunds();
CREATE TRIGGER count_inserted AFTER INSERT ON payments.refunds REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_refunds();
CREATE TRIGGER count_updated AFTER UPDATE ON payments.refunds REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION count_refunds();

create table reserved_indexes (
  id text not null,
  account text not null,
  index bigint not null,
  revision bigint not null,
  skipped boolean not null default false,
  constraint reserved_indexes_pkey PRIMARY KEY (id)
);
CREATE INDEX reserved_indexes_lowest ON payments.reserved_indexes USING btree (account, index);

create table unshown_addresses (
  address text collate "C" not null,
  account text not null,
  index bigint not null,
  constraint unshown_addresses_pkey PRIMARY KEY (address)
);
CREATE INDEX unshown_addresses_by_index ON payments.unshown_addresses USING btree (account, index);

create view api_chains as
 SELECT network,
    height
   FROM chain_cursors;

create view api_payables as
 SELECT order_id,
    merchant_id,
    address,
    reference
   FROM payables
  WHERE NOT deleted;

create view api_payment_counts as
 SELECT merchant_id,
    day,
    status,
    currency,
    payment_rail,
    due_back,
    n
   FROM payment_counts;

create view api_payments as
 SELECT id,
    merchant_id,
    order_id,
    status,
    currency,
    payment_rail,
    due_back,
    created_at,
    deleted,
    resource,
    tx_hash,
    applied_at,
    refunded_at,
    failed_at,
    updated_at
   FROM payments;

create view api_postings as
 SELECT id,
    payment_id,
    merchant_id,
    order_id,
    currency,
    account,
    amount,
    event,
    refund_id,
    tx_hash,
    payment_created_at,
    created_at
   FROM postings;

create view api_refund_counts as
 SELECT merchant_id,
    day,
    currency,
    n
   FROM refund_counts;

create view api_refunds as
 SELECT id,
    payment_id,
    merchant_id,
    order_id,
    currency,
    status,
    created_at,
    ended_at,
    resource,
        CASE
            WHEN claim_on_page AND status = 'pending'::text AND destination IS NULL THEN claim_hash
            ELSE NULL::text
        END AS page_claim
   FROM refunds;

create view api_transfers as
 SELECT network,
    id,
    required,
    height
   FROM chain_transfers;

create view newest_blocks as
 SELECT network,
    block_lag_ms::double precision AS lag_ms,
    block_lead_ms::double precision AS lead_ms,
    ( SELECT max((node.value ->> 'time'::text)::timestamp with time zone) AS max
           FROM jsonb_array_elements(chain_cursors.nodes) node(value)
          WHERE (node.value ->> 'isUsed'::text)::boolean) AS "time"
   FROM chain_cursors
  WHERE block_lag_ms IS NOT NULL AND block_lead_ms IS NOT NULL;

CREATE OR REPLACE FUNCTION payments.count_payments()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'payments'
AS $function$
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
end $function$;

CREATE OR REPLACE FUNCTION payments.count_refunds()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO 'payments'
AS $function$
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
end $function$;
