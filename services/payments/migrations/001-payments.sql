-- The read model of payments: `resource` is the payment exactly as the API shows it. It can be dropped and made anew from the streams.
-- A payment of a deleted order keeps its id and merchant, so that news that comes late cannot bring it back.
create table payments (
  id text primary key,
  merchant_id text not null,
  order_id text,
  status text,
  currency text,
  payment_rail text,
  created_at timestamptz,
  revision bigint not null,
  deleted boolean not null default false,
  resource json
);
create index payments_newest on payments (merchant_id, created_at desc, id desc) where not deleted;
create index payments_by_status on payments (merchant_id, status, created_at desc, id desc) where not deleted;
create index payments_by_order on payments (order_id) where not deleted;

create table checkpoints (name text primary key, epoch bigint not null, commit_position numeric, prepare_position numeric);

-- From here on nothing can be made anew: these tables are the only record of what was handed out.

-- The next index of each account key, by its extended public key's own digest. It only ever grows.
create table deposit_accounts (
  account text primary key,
  next_index bigint not null
);

-- One address per order and network, never used twice. Rows are kept when their order is deleted: money may still come.
create table deposit_addresses (
  order_id text not null,
  network text not null,
  account text not null references deposit_accounts,
  index bigint not null,
  address text not null unique,
  assigned_at timestamptz not null default now(),
  primary key (order_id, network),
  unique (account, index)
);

-- What an order is called at a provider of gateway_pay.
create table payment_references (
  order_id text not null,
  provider text not null,
  reference text not null unique,
  assigned_at timestamptz not null default now(),
  primary key (order_id, provider)
);
